"""Simulation: a recorded job queue replayed against an environment, for waits, GPU hours and cost. No AWS call is made."""
