"""Day-2 work around a running cluster, and the machine it is run from."""
