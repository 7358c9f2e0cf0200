"""Operation of a running cluster, and requirements of commands on the operator's machine."""
