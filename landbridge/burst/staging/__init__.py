"""Data of held jobs: the decision when a job is released, and the exchange with the mover."""
