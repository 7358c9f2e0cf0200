"""Mistakes with on-prem machines and the packages that run on them."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

NODES: DataPath = ("onprem", "nodes")
SLURM: DataPath = ("scheduler", "slurm")

ROWS = [
    Row("unknown-platform", "misspelt platform", {(*NODES, 0, "platform"): "dgx-h10"}, (*NODES, 0, "platform"), '"dgx-h100"'),
    Row("slurm-without-packages", "a Slurm version without packages", {("scheduler", "slurm"): {"version": "25.11"}}, ("scheduler", "slurm", "version"), "26.05"),
    Row("built-packages-without-repository", "Slurm's own packages from Debian's archive", {SLURM: {"packaging": "schedmd", "packages_key": "x"}}, (*SLURM, "packaging"), "packages_mirror is missing: Debian's archive has no"),
    Row("built-packages-without-repository", "packages without a signing key", {SLURM: {"packaging": "schedmd", "packages_mirror": "http://mirror.example.org/slurm"}}, (*SLURM, "packaging"), "packages_key"),
    Row("slurm-not-packaged-for-nodes", "Ubuntu nodes without packages of this Slurm", {(*NODES, 0, "os"): "ubuntu-24.04"}, (*NODES, 0, "os"), "landbridge packages slurm 26.05"),
    Row("slurm-not-packaged-for-nodes", "DGX OS nodes without packages of this Slurm", {(*NODES, 0, "os"): "dgx-os-7"}, (*NODES, 0, "os"), "dgx-os-7 has no packages of Slurm 26.05"),
    Row("slurm-release", "a release of another Slurm version", {SLURM: {"version": "24.11", "release": "26.05.5"}}, (*SLURM, "release"), "not a release of Slurm 24.11"),
    Row("slurm-release-not-held", "different releases of Slurm on hosts", {SLURM: {"release": "newest"}}, (*SLURM, "release"), "at different times"),
    Row("example-package-repository", "Slurm's packages from an example's address", {SLURM: {"packaging": "schedmd", "packages_mirror": "http://mirror.example.org/slurm", "packages_key": "x"}}, (*SLURM, "packages_mirror"), "key.asc"),
    Row("reserved-cores-and-memory", "all cores for the system", {(*NODES, 0, "hardware"): {"reserved_cores": 110}}, (*NODES, 0, "hardware", "reserved_cores"), "of 112 cores are reserved"),
    Row("reserved-cores-and-memory", "all memory for the system", {(*NODES, 0, "hardware"): {"reserved_memory_mib": 2000000}}, (*NODES, 0, "hardware", "reserved_memory_mib"), "1992294 MiB"),
    Row("nvlink-domain-size", "two domains in a rack", {(*NODES, 0): {"hosts": "gb[01-36]", "platform": "gb200-nvl72", "address": "10.20.1.11", "rack": "r1"}}, (*NODES, 0, "rack"), "has 18"),
]  # fmt: skip
