"""Preflight checks of storage: quotas of new file systems, and file systems and volumes that exist."""
