"""`landbridge …`: parsing and printing, nothing else.

A module in this package that has `register(app)` adds its commands by it; another package adds a typer app by an entry
point in the group `landbridge.commands`. Both keep heavy imports inside the commands, so that every command starts fast.
"""
