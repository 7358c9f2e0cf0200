"""Archive for a node image build: the cluster's roles, their variables, and the program that runs them."""

from landbridge.node_image.bundle import Bundle, bundle, roles_used
from landbridge.node_image.steps import ingredients, steps

__all__ = ["Bundle", "bundle", "ingredients", "roles_used", "steps"]
