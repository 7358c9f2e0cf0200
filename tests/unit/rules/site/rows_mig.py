"""Mistakes with MIG."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

NODE: DataPath = ("onprem", "nodes", 0)
AT: DataPath = (*NODE, "mig", 0)


def _part(gpus: str | None = None, **instances: int) -> dict[str, Any]:
    profiles = {name.replace("_", ".").lstrip("p"): count for name, count in instances.items()}
    return {"instances": profiles} | ({"gpus": gpus} if gpus else {})


ROWS = [
    Row("mig-layout-fits", "a MIG profile of another GPU", {(*NODE, "mig"): [_part(p1g_5gb=7)]}, AT, "1g.10gb, 1g.20gb"),
    Row("mig-layout-fits", "more MIG instances than a GPU has room for", {(*NODE, "mig"): [_part(p3g_40gb=2, p1g_10gb=1)]}, AT, "do not fit"),
    Row("mig-layout-fits", "a GPU that is partitioned twice", {(*NODE, "mig"): [_part("4-7", p1g_10gb=7), _part("7", p3g_40gb=2)]}, (*NODE, "mig", 1), "twice"),
    Row("mig-layout-fits", "an unknown GPU is partitioned", {(*NODE, "mig"): [_part("7-8", p1g_10gb=7)]}, AT, "no GPU 8"),
    Row("mig-gpu-order", "partitioned GPUs before whole ones", {(*NODE, "mig"): [_part("0-3", p1g_10gb=7)]}, (*NODE, "mig"), "partition 4-7"),
    Row(
        "mig-layout-fits",
        "GPUs without MIG are partitioned",
        {(*NODE, "platform"): "pcie-l40s", (*NODE, "mig"): [_part(p1g_10gb=7)]},
        AT,
        "remove mig",
    ),
]  # fmt: skip
