"""EC2 launches: RunInstances, CreateFleet, launch templates, and the checks before them."""
