"""Environment with several data classes, regions and workload classes, for tests of the placement."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from landbridge.environment import Environment
from landbridge.findings import DataPath, has_errors
from landbridge.rules import check
from tests.unit.core.samples import environment, loaded

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


#: Sites of a class, and whether its jobs may run in us-east-2.
RESIDENCES = (("onprem",), ("aws",), ("onprem", "aws"), ("onprem", "aws", "us-east-2"), ("aws", "us-east-2"))


@st.composite
def generated_estates(draw: st.DrawFn) -> Environment:
    """Generate environments: classes at any sites and regions, an account of each, homes in AWS or not, and SageMaker off."""
    residences = draw(st.lists(st.sampled_from(RESIDENCES), min_size=1, max_size=4))
    classes: dict[str, Any] = {}
    for number, residence in enumerate(residences):
        sites = [place for place in residence if place != "us-east-2"]
        classes[f"class-{number}"] = {
            "sites": sites,
            **({"regions": ["us-east-2"]} if "us-east-2" in residence else {}),
        }
        if sites != ["onprem"] and draw(st.booleans()):
            classes[f"class-{number}"]["jobs_may_delete"] = True
    # A name that begins with another class's name.
    classes["class-1-more"] = {"sites": ["onprem", "aws"], "regions": ["us-east-2"]}
    accounts = {f"acct-{name}": {"users": ["alice"], "data_class": name} for name in classes}
    anywhere = {"certificate": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"}
    return environment(
        {
            ("data_classes",): classes,
            ("scheduler", "accounts"): accounts,
            ("aws", "other_regions", "us-east-2"): deepcopy(REGIONS[("aws", "other_regions", "us-east-2")]),
            ("storage", "home"): {"kind": "nfs", "on_cloud_nodes": draw(st.booleans())},
            ("aws", "nat"): "none",
            **({("aws", "iam"): {"anywhere": anywhere}} if draw(st.booleans()) else {}),
        }
    )
