"""Rules about addresses, subnets, endpoints, DNS, regions and the link."""
