"""Instances of pools: how capacity is bought, what it costs by the hour, and the network interfaces of a launch."""
