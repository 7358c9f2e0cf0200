"""Controller of canaries: reads metrics of model servers, sets weights of the gateway, moves aliases, and records decisions."""
