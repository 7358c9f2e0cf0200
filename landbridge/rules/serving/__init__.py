"""Rules about serving: hosts, services, programs, scale, and model servers in AWS."""
