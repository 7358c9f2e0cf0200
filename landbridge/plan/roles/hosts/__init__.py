"""Roles of every host of the site, of services without a group of their own, and of images of nodes in AWS."""
