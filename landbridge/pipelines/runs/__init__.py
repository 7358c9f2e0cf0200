"""Runs of pipelines: names, requests and records. Pure."""
