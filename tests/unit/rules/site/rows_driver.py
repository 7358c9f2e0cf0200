"""Mistakes with NVIDIA's driver on machines of one's own."""

from datetime import date

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

DRIVER: DataPath = ("onprem", "driver")
PLATFORM: DataPath = ("onprem", "nodes", 0, "platform")

ROWS = [
    Row("driver-branch", "a driver that has dropped the GPU", {PLATFORM: "pcie-v100", DRIVER: {"branch": "595"}}, (*DRIVER, "branch"), "does not support the Tesla"),
    Row("driver-branch", "a driver's release of another branch", {DRIVER: {"branch": "580", "version": "595.71.05"}}, (*DRIVER, "version"), "a release of branch 595, not of 580"),
    Row("driver-modules", "open modules for a GPU without a GSP", {PLATFORM: "pcie-v100", DRIVER: {"modules": "open"}}, (*DRIVER, "modules"), "no GSP on the chip"),
    Row("driver-modules", "closed modules for Blackwell", {PLATFORM: "dgx-b200", DRIVER: {"modules": "proprietary"}}, (*DRIVER, "modules"), "do not know it"),
    Row("driver-repository", "signed modules from where none are signed", {DRIVER: {"secure_boot": "signed"}}, (*DRIVER, "secure_boot"), "repository: distribution"),
    Row("driver-repository", "an owner's key for modules that are signed", {DRIVER: {"secure_boot": "mok", "repository": "distribution"}}, (*DRIVER, "secure_boot"), "are already"),
    Row("driver-repository", "a release that the archive will not keep", {DRIVER: {"version": "580.159.04", "repository": "distribution"}}, (*DRIVER, "version"), "newest release"),
    Row("driver-repository", "a mirror that nothing comes from", {DRIVER: {"mirror": "http://mirror.example.org/cuda/", "repository": "distribution"}}, (*DRIVER, "mirror"), "host's sources"),
    Row("driver-supported", "a driver that gets no fixes any more", {DRIVER: {"branch": "535"}}, (*DRIVER, "branch"), "ended on 2026-06-30", today=date(2026, 11, 21)),
    Row("driver-supported", "a driver's branch that nobody knows", {DRIVER: {"version": "999.10"}}, (*DRIVER, "version"), "branch 999 is not in the catalogue", today=date(2026, 11, 21)),
]  # fmt: skip
