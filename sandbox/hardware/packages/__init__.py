"""Package repository for lab nodes: empty packages with the real names, versions and dependencies of NVIDIA's.

The rows are data (data/*.yaml). apt, pins, holds and upgrades are real; only the packages' content is not.
"""
