"""Network services: private addresses, transit gateways, Direct Connect, Route 53 Resolver, dependency checks."""
