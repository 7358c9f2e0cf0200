"""Resource types of networks: VPC, routes, security groups, DNS, transit gateway, VPN, Direct Connect."""
