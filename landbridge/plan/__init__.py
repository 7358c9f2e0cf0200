"""Pure functions from an environment and the catalogue to values: what Pulumi and Ansible are given to realise."""
