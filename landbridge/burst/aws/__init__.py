"""EC2 calls of the burst controller, with typed results."""
