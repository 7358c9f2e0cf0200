"""SQLite journal of the burst controller: orders, attempts, leases, budget holds and decisions."""
