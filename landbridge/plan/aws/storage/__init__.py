"""Plan of storage in AWS: the data hub, file systems and their exports."""
