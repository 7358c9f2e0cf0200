"""Demonstration (`make demo`): all of Landbridge on one machine, at the highest level that the machine supports."""
