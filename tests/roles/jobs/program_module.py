"""Programs of roles, loaded as modules."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROLES = Path(__file__).parents[3] / "ansible/roles"


def loaded(path: Path, name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode, original = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = original
    return module
