"""Mistakes with NVIDIA's driver on on-prem nodes."""

from datetime import date

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

DRIVER: DataPath = ("onprem", "driver")
PLATFORM: DataPath = ("onprem", "nodes", 0, "platform")

ROWS = [
    Row("driver-branch", "a driver without support for the GPU", {PLATFORM: "pcie-v100", DRIVER: {"branch": "595"}}, (*DRIVER, "branch"), "does not support the Tesla"),
    Row("driver-branch", "a driver's release of another branch", {DRIVER: {"branch": "580", "version": "595.71.05"}}, (*DRIVER, "version"), "a release of branch 595, not of 580"),
    Row("driver-modules", "open modules for a GPU without a GSP", {PLATFORM: "pcie-v100", DRIVER: {"modules": "open"}}, (*DRIVER, "modules"), "no GSP on the chip"),
    Row("driver-modules", "closed modules for Blackwell", {PLATFORM: "dgx-b200", DRIVER: {"modules": "proprietary"}}, (*DRIVER, "modules"), "do not know it"),
    Row("driver-repository", "signed modules from a repository without them", {DRIVER: {"secure_boot": "signed"}}, (*DRIVER, "secure_boot"), "repository: distribution"),
    Row("driver-repository", "a machine owner key for signed modules", {DRIVER: {"secure_boot": "mok", "repository": "distribution"}}, (*DRIVER, "secure_boot"), "are already"),
    Row("driver-repository", "a fixed release from the distribution's archive", {DRIVER: {"version": "580.159.04", "repository": "distribution"}}, (*DRIVER, "version"), "newest release"),
    Row("driver-repository", "a mirror that is not used", {DRIVER: {"mirror": "http://mirror.example.org/cuda/", "repository": "distribution"}}, (*DRIVER, "mirror"), "host's sources"),
    Row("restart-budget", "more restarts than the failure budget", {("onprem", "restarts"): {"at_once": 5, "out_of_service": 3}}, ("onprem", "restarts", "at_once"), "at most 3 may be out of service"),
    Row("driver-supported", "a driver branch whose support has ended", {DRIVER: {"branch": "535"}}, (*DRIVER, "branch"), "ended on 2026-06-30", today=date(2026, 11, 21)),
    Row("driver-supported", "an unknown driver branch", {DRIVER: {"version": "999.10"}}, (*DRIVER, "version"), "branch 999 is not in the catalogue", today=date(2026, 11, 21)),
]  # fmt: skip
