"""Plan of addresses, subnets, endpoints, ports, DNS and the link between the sites."""
