"""Benchmark of an MLflow server with many runs at the same time."""
