"""Certificates of the site's servers: their issue with the CA of the store of secrets, and the state of that CA."""
