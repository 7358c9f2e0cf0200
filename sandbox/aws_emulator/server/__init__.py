"""Request handling of the emulated AWS: WSGI application, checks before moto, throttling, faults, control endpoint."""
