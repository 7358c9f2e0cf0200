"""Environment keys of the organisation's own site."""
