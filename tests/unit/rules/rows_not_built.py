"""Settings that Landbridge checks and does not create yet."""

from tests.unit.rules.parts import POOL
from tests.unit.rules.row import Row

ROWS = [
    Row("not-built-yet", "a registry that is planned only", {("mlops", "registry"): {}}, ("mlops", "registry"), "registry"),
    Row("not-built-yet", "a driver that is not installed", {(*POOL, "driver"): "open"}, (*POOL, "driver"), "driver"),
]  # fmt: skip
