"""Instances of pools: terms of capacity, hourly rates, and the network interfaces of a launch."""
