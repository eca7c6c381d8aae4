"""Games that ICC's level-2 datagrams describe."""
