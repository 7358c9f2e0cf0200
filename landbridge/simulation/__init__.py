"""A queue of the past, replayed against an environment: what its jobs would have waited, used and cost. No call is made."""
