"""Pulumi's engine: search, build from source, and the variables and programs for the sandbox's plugins."""
