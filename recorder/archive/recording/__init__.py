"""What the commands record and proxy run."""
