"""Rules about file systems, mounts, data repositories and the data hub."""
