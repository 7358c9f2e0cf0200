"""Networks beyond moto: private addresses, transit gateways, Direct Connect, Route 53 Resolver, dependency checks."""
