"""Rules about pools: instance types, capacity, reservations, quotas and images."""
