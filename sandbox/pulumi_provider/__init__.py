"""Stand-ins for Pulumi's downloads: an engine, a language host and an AWS provider for the emulated AWS."""
