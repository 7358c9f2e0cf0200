"""What may be written and is not built yet."""

from tests.unit.rules.row import Row

LEASED = {"kind": "direct_connect", "connection": "dxcon-abcd1234", "vlan": 100, "gateway_address": "10.99.0.1"}

ROWS = [
    Row("not-built-yet", "something that is planned only", {("mlops", "registry"): {}}, ("mlops", "registry"), "registry"),
    Row("not-built-yet", "a link that is planned only", {("link",): LEASED}, ("link", "kind"), "Direct Connect"),
]  # fmt: skip
