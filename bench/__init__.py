"""Benchmarks of Landbridge's commands, time and memory: `make bench`."""
