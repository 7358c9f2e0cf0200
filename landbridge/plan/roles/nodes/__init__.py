"""Roles of GPU nodes and of jobs on them."""
