"""Operation of a running cluster, and requirements of the operator's machine."""
