"""What reads sources into an archive: import, rebuild and conversion share it."""
