"""Service of a model server's host: it brings the versions of the gateway's placement into the slots."""
