"""Discovery of component classes in a package."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import pulumi


def component_classes(*packages: ModuleType) -> dict[str, type[pulumi.ComponentResource]]:
    """Return the public component classes by name that the modules of packages define, without their subpackages."""
    classes: dict[str, type[pulumi.ComponentResource]] = {}
    modules = [info for package in packages for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    for module_info in modules:
        if module_info.ispkg:
            continue
        module = importlib.import_module(module_info.name)
        for name, member in inspect.getmembers(module, inspect.isclass):
            is_own = member.__module__ == module.__name__ and not name.startswith("_")
            if is_own and issubclass(member, pulumi.ComponentResource):
                classes[name] = member
    return dict(sorted(classes.items()))
