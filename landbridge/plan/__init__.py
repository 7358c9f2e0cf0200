"""Plan: pure functions from an environment and the catalogue to plain values, which Pulumi and Ansible realise."""
