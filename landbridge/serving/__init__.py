"""Serving: the model server, its gateway, the services that follow the registry, and the controller of canaries."""
