"""EC2 calls of the burst controller, and the typed answers they give."""
