"""Instances after their launch: status, registration, leases, keeps, refused terminations, garbage collection."""
