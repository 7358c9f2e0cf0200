"""Environment with several data classes, regions and workload classes, for tests of the placement."""

from copy import deepcopy
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import DataPath, has_errors
from landbridge.rules import check
from tests.unit.core.samples import loaded

ZONED = {"kind": "on_demand", "zones": ["use2-az1"]}
REGIONS: dict[DataPath, Any] = {
    ("aws", "other_regions", "us-east-2"): {
        "cidr": "10.70.0.0/16",
        "pools": {"p5": {"capacity": [ZONED], "image": "ami-0123456789abcdef1"}},
    },
    ("data_classes", "internal", "regions"): ["us-east-2"],
    ("data_classes", "local"): {"sites": ["onprem", "aws"]},
    ("data_classes", "phi"): {"sites": ["onprem", "aws"], "regime": "hipaa", "regions": ["us-east-2"]},
    ("data_classes", "public-cloud"): {"sites": ["aws"]},
    ("data_classes", "secret"): {"sites": ["onprem"], "regime": "classified"},
    ("scheduler", "qos"): {"scavenger": {}},
    ("scheduler", "accounts"): {
        "vision": {"users": ["alice"], "data_class": "internal", "qos": ["normal", "scavenger"]},
        "lab": {"users": ["alice"], "data_class": "local"},
        "ward": {"users": ["bob"], "data_class": "phi"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
        "web": {"users": ["bob"], "data_class": "public-cloud"},
        "vault": {"users": ["bob"], "data_class": "secret"},
    },
    ("scheduler", "partitions"): {"mixed": {"nodes": ["dgx01", "p5"]}, "quiet": {"nodes": ["dgx02"]}},
}
CLASSES: dict[DataPath, Any] = {
    ("placement", "classes"): {
        "sensitive": {"comments": ["*class=sensitive*"]},
        "inference": {"accounts": ["web"], "names": ["serve-*"], "sites": ["aws"]},
        "experiments": {"qos": ["scavenger"], "sites": ["onprem", "aws"]},
        "baseline": {"accounts": ["vision", "lab"], "names": ["train-*", "a.b*%c"]},
    }
}


def estate(changes: dict[DataPath, Any] | None = None) -> Environment:
    """Return the environment with changes that keep it without errors."""
    # The values become parts of the environment's data, which later changes edit in place.
    result = loaded(deepcopy({**REGIONS, **(changes or {})}))
    errors = [finding for finding in check(result) if has_errors([finding])]
    assert result.environment is not None and not errors, errors
    return result.environment
