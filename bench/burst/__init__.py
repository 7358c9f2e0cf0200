"""Benchmark of the burst controller and of its peers: launches, passes, comments of refused jobs, starts of jobs."""
