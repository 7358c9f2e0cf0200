"""AWS resource types that Landbridge creates, each in one entry of its service's module.

Recovery, sweep, impact and docs/reference/aws-resources.md are loops over RESOURCE_TYPES. Every module
of this package and of its folders with a tuple of that name is imported.
"""

import pkgutil
from importlib import import_module

from landbridge.aws_resources.resource_type import ResourceType


def _services() -> dict[str, tuple[ResourceType, ...]]:
    modules = {
        module_info.name.rpartition(".")[2]: import_module(module_info.name)
        for module_info in pkgutil.walk_packages(__path__, f"{__name__}.")
    }
    return {
        name: module.RESOURCE_TYPES for name, module in sorted(modules.items()) if hasattr(module, "RESOURCE_TYPES")
    }


#: Types by the module that describes them.
SERVICES = _services()
RESOURCE_TYPES: tuple[ResourceType, ...] = tuple(entry for types in SERVICES.values() for entry in types)
#: Types by Pulumi token.
BY_TOKEN = {entry.token: entry for entry in RESOURCE_TYPES if entry.token}
#: Types that sweep searches, in the order in which AWS accepts their deletion.
SWEPT: tuple[ResourceType, ...] = tuple(
    sorted((entry for entry in RESOURCE_TYPES if entry.sweep), key=lambda entry: entry.sweep.rank if entry.sweep else 0)
)

__all__ = ["BY_TOKEN", "RESOURCE_TYPES", "SERVICES", "SWEPT", "ResourceType"]
