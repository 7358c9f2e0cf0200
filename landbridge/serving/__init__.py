"""Serving: the model server, its gateway and the controller of canaries."""
