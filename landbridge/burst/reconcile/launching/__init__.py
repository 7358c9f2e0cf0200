"""Launches of a pass: the offering of each start, its calls, and the starts that wait or are refused."""
