"""Queries of the AWS account before anything is built: preflight, the image lock, the catalogue's refresh."""
