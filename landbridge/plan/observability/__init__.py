"""Metrics and alerts of the site, computed from the environment."""
