"""Environment keys under `aws`."""
