"""Command line interface `landbridge`: only parsing and printing.

A module of this package adds its commands with `register(app)`; another package adds a typer app with an entry point in
the group `landbridge.commands`. Both import heavy modules inside the commands, so that every command starts fast.
"""
