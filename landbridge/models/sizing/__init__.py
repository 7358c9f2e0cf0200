"""Sizing: the smallest place that holds an objective, by measurements, and the comparison of a smaller version with its original. Pure."""
