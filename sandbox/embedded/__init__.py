"""Embedded level: the demonstration for machines that cannot run a lab."""
