"""Demonstration of a model's life on loopback: registry, signature, serving, canaries, refusals and drift."""
