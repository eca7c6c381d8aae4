"""What gives games to others: data sets and PostgreSQL."""
