"""Pulumi's engine: find it, build it from source, and the variables and programs that let it use the sandbox's plugins."""
