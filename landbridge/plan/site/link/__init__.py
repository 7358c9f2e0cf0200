"""Plan of the link's on-prem side: gateway, its sheet for a network team, flows and expected measurements."""
