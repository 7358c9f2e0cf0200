"""Mistakes with packages that are not published for the operating system of nodes."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

NODES: DataPath = ("onprem", "nodes", 0)
OS: DataPath = (*NODES, "os")
DRIVER: DataPath = ("onprem", "driver")
PLATFORM: DataPath = (*NODES, "platform")

ROWS = [
    Row("driver-not-published", "the long-term driver on Debian 13", {OS: "debian-13", DRIVER: {"branch": "580"}}, OS, "os: ubuntu-24.04 or debian-12 or driver: {branch: \"610\"}, of 590, 595, 610 or os: dgx-os-7 if the hosts have DGX OS 7"),
    Row("driver-not-published", "a driver on Arm processors with Debian", {OS: "debian-12", PLATFORM: "gb200-nvl72", DRIVER: {}}, OS, "branch 580 is not published for debian-12 on arm64"),
    Row("driver-not-published", "Canonical's driver on Debian", {OS: "debian-12", DRIVER: {"repository": "distribution"}}, OS, "the distribution's driver (-server packages) of branch 580"),
    Row("dcgm-not-published", "DCGM on Debian 13", {OS: "debian-13", DRIVER: {"branch": "595"}}, OS, "os: ubuntu-24.04 or debian-12 or gpu_tools: {dcgm: false}"),
]  # fmt: skip
