"""Tests of the charges, budgets and leases of a pass."""
