"""Loading of pulumi_aws by single modules: a package of the SDK, such as pulumi_aws.ec2, loads a module at the first use
of one of its names.

The SDK's packages load all their modules at once: some 3,400 classes for a program that uses 200 of them, which was more
than half of the time and memory of an environment's program. A name is looked for in the module of its own name, then among
the package's inputs and enumerations; if it is in none of them, the whole package is loaded as the SDK does it.
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

SDK = "pulumi_aws"
#: Types of outputs of a package: resources name them in annotations only, which few programs evaluate.
OUTPUTS = "outputs"
#: Package of the provider's settings, which replaces its own class while it loads.
CONFIG = "config"
#: Modules of a package that hold names of many resources.
SHARED = ("_inputs", "_enums")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def install() -> None:
    """Load the packages of the SDK by single modules from now on."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def module_names(name: str) -> list[str]:
    """Return the modules that may define a name: `SecurityGroupArgs` is in security_group, `get_vpc_output` in get_vpc."""
    resource = _WORD.sub("_", re.sub(r"(Args|ArgsDict)$", "", name)).lower()
    return [*dict.fromkeys((resource, name.removesuffix("_output"))), *SHARED]


class _Finder(MetaPathFinder):
    """Finder of the SDK's packages and of their types of outputs."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        words = fullname.split(".")
        is_package, is_outputs = len(words) == 2, len(words) == 3 and words[2] == OUTPUTS
        if words[0] != SDK or words[1:2] == [CONFIG] or not (is_package or is_outputs):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None and (is_outputs or spec.submodule_search_locations):
            spec.loader = _Whole(spec.loader) if is_outputs else _ByModule(spec.loader)
        return spec


class _Whole(Loader):
    """Loader that runs a module at the first use of a name."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def exec_module(self, module: ModuleType) -> None:
        def get(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return self.attribute(module, name)

        def names() -> list[str]:
            self.load(module)
            return list(vars(module))

        vars(module).update(__getattr__=get, __dir__=names)

    def attribute(self, module: ModuleType, name: str) -> Any:
        self.load(module)
        return getattr(module, name)

    def load(self, module: ModuleType) -> None:
        """Run the module as the SDK does, once."""
        if vars(module).pop("__getattr__", None):
            del vars(module)["__dir__"]
            self._loader.exec_module(module)


class _ByModule(_Whole):
    """Loader of a package that loads the module of a name at its first use."""

    def attribute(self, module: ModuleType, name: str) -> Any:
        for part in _parts(module, name):
            # As by `from .part import *` in the package; a function's module has the function's name.
            vars(module).update({exported: getattr(part, exported) for exported in part.__all__})
            if name in part.__all__:
                return vars(module)[name]
        return super().attribute(module, name)


def _parts(package: ModuleType, name: str) -> Iterator[ModuleType]:
    """Yield the package's modules that may define a name."""
    for part in module_names(name):
        full_name = f"{package.__name__}.{part}"
        if part.isidentifier() and importlib.util.find_spec(full_name):
            yield importlib.import_module(full_name)
