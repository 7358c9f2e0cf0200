"""Environment keys of the on-prem site."""
