"""Resource types of networks: VPC, security groups, transit gateway, Direct Connect and Route 53."""
