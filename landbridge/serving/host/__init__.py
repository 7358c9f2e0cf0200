"""Service of a model server's host: it installs the versions of the gateway's placement in the slots."""
