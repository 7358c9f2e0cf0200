"""Values that a newcomer gives in README's steps: answers to questions, and edits of the environment file."""

from collections.abc import Mapping
from typing import Any

#: New values by path below the environment, as an operator writes them into the file.
Edits = Mapping[tuple[str, ...], Any]
REMOVED = object()
#: Answers to those questions of `landbridge assess` that have no usable default.
ASSESSED = {"Share of GPU hours in baseline": "60", "Share in bursts": "40", "Mean number": "16", "Peak number": "32"}
#: Answers to the questions of `landbridge new`.
ANSWERS = {
    "owner": "ml@acme.test",
    "cost center": "4712",
    "AWS region": "us-east-1",
    "your site's range": "10.30.0.0/16",
    "the VPC's range": "10.70.0.0/16",
    "your gateway's address": "203.0.113.10",
    "your site's BGP number": "65020",
}
#: Values that README's step 2 names: hosts, users and accounts, pools, budget, account, and Slurm's packages.
EDITS: Edits = {
    ("onprem", "nodes"): [{"hosts": "dgx[01-02]", "platform": "dgx-h100", "os": "ubuntu-24.04", "address": "10.30.1.11"}],
    ("onprem", "access"): {"user": "ubuntu"},
    ("users",): [{"name": "carol", "uid": 20011}, {"name": "dave", "uid": 20012}],
    ("aws", "account"): "123456789012",
    ("aws", "pools"): [
        {
            "name": "p5",
            "instance": "p5.48xlarge",
            "image": "node",
            "max_nodes": 2,
            "capacity": [{"kind": "on_demand", "zones": ["use1-az6"]}],
            "suspend_after": 20,
        }
    ],
    ("scheduler", "slurm", "packages_mirror"): "http://mirror.acme.test/slurm",
    ("scheduler", "partitions"): {"burst": {"nodes": ["p5"]}},
    ("scheduler", "accounts"): {
        "research": {"users": ["carol"], "data_class": "internal"},
        "ward": {"users": ["dave"], "data_class": "restricted"},
    },
    ("budget",): {"monthly_usd": 20000},
}  # fmt: skip
