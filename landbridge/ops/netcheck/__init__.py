"""Check of the link between sites: facts of its hosts, read over ssh, against the expectations of the plan."""
