"""Commands for the operator of a running cluster: `doctor`, `logs`, `status` and `support-bundle`."""
