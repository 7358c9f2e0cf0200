"""Check of a machine against the contract of a node image."""
