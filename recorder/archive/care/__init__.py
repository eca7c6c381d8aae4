"""What keeps an archive right: verify, rebuild and forget."""
