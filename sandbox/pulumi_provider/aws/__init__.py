"""Resource types of the sandbox's AWS provider: every module of this package is imported, and its classes register.

A new resource type needs no entry in any list: a class with a `token` in any module below is enough.
"""

from importlib import import_module
from pkgutil import walk_packages

from sandbox.pulumi_provider.aws.base import RESOURCE_TYPES, AwsResource, Bag, EmulatedAws, ProviderError

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["RESOURCE_TYPES", "AwsResource", "Bag", "EmulatedAws", "ProviderError"]
