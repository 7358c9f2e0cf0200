"""Mistakes with the GPU tools beside the driver."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

SITE: DataPath = ("onprem",)
AT: DataPath = (*SITE, "gpu_tools", "job_statistics")
GDS: DataPath = (*SITE, "gpu_tools", "gds")

ROWS = [
    Row("statistics-without-dcgm", "statistics of jobs without DCGM", {(*SITE, "gpu_tools"): {"dcgm": False, "job_statistics": True}}, AT, "dcgm: true"),
    Row(
        "statistics-without-dcgm",
        "statistics of jobs on hosts with vendor software",
        {(*SITE, "driver"): {"install": False}, (*SITE, "gpu_tools"): {"job_statistics": True}},
        AT,
        "job_statistics needs DCGM, which is not installed",
    ),
    Row("gds-not-available", "GPUDirect Storage on hosts with vendor software", {(*SITE, "driver"): {"install": False}, (*SITE, "gpu_tools"): {"gds": True}}, GDS, "GPUDirect Storage is not installed beside a driver"),
    Row("gds-not-available", "GPUDirect Storage on DGX OS", {(*SITE, "nodes", 0, "os"): "dgx-os-7", (*SITE, "gpu_tools"): {"gds": True}}, GDS, "beside a driver of the operating system"),
    Row("gds-not-available", "GPUDirect Storage from a distribution", {(*SITE, "driver"): {"repository": "distribution"}, (*SITE, "gpu_tools"): {"gds": True}}, GDS, "repository: nvidia"),
    Row("gds-not-available", "GPUDirect Storage with proprietary modules", {(*SITE, "driver"): {"modules": "proprietary"}, (*SITE, "gpu_tools"): {"gds": True}}, GDS, "GPUDirect Storage needs open kernel modules, and"),
]  # fmt: skip
