"""Living connections: logging in, secrets kept out of the journal, what to observe, the proxy."""
