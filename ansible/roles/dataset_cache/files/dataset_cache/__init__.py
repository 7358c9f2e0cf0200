"""Read-through cache of staged datasets on a node: its service, and the program `landbridge-data`."""
