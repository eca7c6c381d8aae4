"""ICC's level-1 units and level-2 datagrams: text to values and back."""
