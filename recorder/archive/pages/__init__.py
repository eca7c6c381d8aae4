"""What reports and sites are made of."""
