"""Readers of observability facts: metrics of exporters, and alerts."""
