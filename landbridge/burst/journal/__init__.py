"""SQLite journal of the burst controller: orders, attempts, leases, budget holds, charges and decisions."""
