"""Plan of AWS resources: pools, images, identity, the data hub, file systems and services."""
