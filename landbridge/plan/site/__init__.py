"""Plan of the organisation's own site: hosts, health checks, acceptance, accounts and shared file systems."""
