"""Cost of each job: its share of a node's GPUs, with idle, failed and lost time as lines that add up to the month's bill. Pure."""
