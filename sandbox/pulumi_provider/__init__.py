"""Pulumi without Pulumi's downloads: the engine, a language host and a provider of AWS that talks to the emulated one."""
