"""A package repository for lab nodes: NVIDIA's packages by their real names, versions and dependencies, and nothing in them.

The rows are data (data/*.yaml). apt, pins, holds and upgrades are real; only the packages' content is not.
"""
