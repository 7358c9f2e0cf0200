"""Comments of slurm.conf with the buckets of checkpoints, and the keys of the object store on nodes."""

from typing import Any

import pytest

from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.jobs.data_lines import data_lines
from tests.unit.core.samples import REMOVED, environment
from tests.unit.plan.ansible.test_inventory import OUTPUTS

STORE: DataPath = ("storage", "object_store")
ANYWHERE: DataPath = ("aws", "iam", "anywhere")
PEM = "-----BEGIN CERTIFICATE-----\nMIIBLDCB06ADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMMBHNpdGU=\n-----END CERTIFICATE-----\n"
HUB = "# landbridge-checkpoints internal s3://test-internal-1/checkpoints"
SITE = "# landbridge-checkpoints restricted s3://test-restricted/checkpoints"
RESULTS = "# landbridge-results internal s3://test-internal-1/results"
STAGING: dict[DataPath, Any] = {("storage", "staging"): {"folder": "/export/home/datasets", "mount": "/home/datasets"}}
URL = "# landbridge-store https://nfs01:7070 us-east-1"


@pytest.mark.parametrize(
    ("changes", "is_built", "lines"),
    [
        ({}, True, [HUB]),
        ({}, False, []),
        ({STORE: {}}, True, [HUB, SITE, URL]),
        # A class that may be in AWS has one place for both sites.
        ({STORE: {}}, False, [SITE, URL]),
        ({STORE: {}, ("scheduler", "accounts"): REMOVED}, True, []),
        (STAGING, True, [HUB, RESULTS]),
        (STAGING, False, []),
        # Results of data that may not be at the site stay in AWS.
        ({**STAGING, ("data_classes", "internal", "sites"): ["aws"]}, True, [HUB]),
        (
            {STORE: {}, ("onprem", "services"): {"object_store": "mlops01"}},
            False,
            [SITE, URL.replace("nfs01", "mlops01")],
        ),
    ],
)
def test_each_class_has_its_bucket(changes: dict[DataPath, Any], is_built: bool, lines: list[str]) -> None:
    chosen, outputs = environment(changes), OUTPUTS if is_built else None
    assert data_lines(chosen, outputs) == lines
    assert inventory(chosen, outputs)["slurm_controller"]["vars"]["slurm_controller_data_lines"] == lines


@pytest.mark.parametrize(
    ("changes", "region", "classes"),
    [
        ({}, None, []),
        ({STORE: {}}, "", ["internal", "restricted"]),
        ({ANYWHERE: {"certificate": PEM}}, "us-east-1", []),
        ({STORE: {}, ANYWHERE: {"certificate": PEM}}, "us-east-1", ["internal", "restricted"]),
        ({STORE: {}, ("scheduler", "accounts"): REMOVED}, None, []),
    ],
)
def test_on_prem_nodes_have_the_keys_of_every_class_and_others_have_none(
    changes: dict[DataPath, Any], region: str | None, classes: list[str]
) -> None:
    data = inventory(environment(changes))
    node = data["slurm_node"]["vars"]
    assert [account["data_class"] for account in node.get("landbridge_store_accounts", ())] == classes
    places = node.get("slurm_job_environment_aws")
    assert (places and places["region"]) == region and ("job_credentials_source" in node) is (region is not None)
    others = [group["vars"] for name, group in data.items() if name not in ("slurm_node", "_meta") and "vars" in group]
    assert not any("landbridge_store_accounts" in variables for variables in others)
