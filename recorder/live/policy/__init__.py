"""What to observe: the policy language and the decisions that it makes."""
