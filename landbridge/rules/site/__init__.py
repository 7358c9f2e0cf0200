"""Rules about on-prem hosts: access, hardware, driver, containers and user accounts."""
