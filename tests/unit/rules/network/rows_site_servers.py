"""Mistakes with servers that Landbridge does not configure."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.aws.rows_cloud_services import CLOUD
from tests.unit.rules.row import Row

HOME: DataPath = ("storage", "home")
DIRECTORY: dict[str, Any] = {"base": "dc=example,dc=org", "min_uid": 100_000}
OPENZFS = {"kind": "external_nfs", "host": "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com", "export": "/fsx"}

ROWS = [
    Row("unreachable-server", "homes on a file server in AWS without a site", {**CLOUD, ("storage",): {"home": OPENZFS}}, (*HOME, "host"), "port 2049"),
    Row("unreachable-server", "homes on a server outside the site's range", {HOME: {"kind": "external_nfs", "host": "10.99.1.5", "export": "/vol/home"}}, (*HOME, "host"), "10.20.0.0/16 only"),
    Row("unreachable-server", "a directory in AWS without a site", {**CLOUD, ("hosts", "directory"): {**DIRECTORY, "uris": ["ldap://10.60.9.9"]}}, ("hosts", "directory", "uris", 0), "port 389"),
    Row("unreachable-server", "a time server outside the site's range", {("hosts", "time_servers"): ["10.20.0.1", "172.16.0.1"]}, ("hosts", "time_servers", 1), "172.16.0.1"),
    Row("unreachable-server", "a cache of images outside the site's range", {("containers", "mirrors"): {"nvcr.io": {"location": "172.16.0.2:5000/nvcr"}}}, ("containers", "mirrors", "nvcr.io"), "172.16.0.2"),
]  # fmt: skip
