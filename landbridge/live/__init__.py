"""Calls of AWS beside Pulumi: preflight, the image lock, the catalogue's refresh, leftovers, and transfers of datasets."""
