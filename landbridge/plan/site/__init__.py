"""Plan of the on-prem site: firewall, gateway, health checks, accounts, containers and shared file systems."""
