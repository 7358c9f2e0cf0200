"""Cost of moving a dataset, and the place of its data class."""

import pytest

from landbridge.catalog import Price, price_of
from landbridge.plan.aws.storage.dataset_place import class_fault, mover_fault
from landbridge.plan.cost.dataset_transfer import TransferAmounts, transfer_cost
from landbridge.plan.outputs import DataHubOutput, IdentityOutput, NetworkOutput, SecretsOutput, StackOutputs
from tests.unit.core.samples import environment, shipped
from tests.unit.rules.network.rows_link import direct_connect

GIB = 2**30
ROLE = "arn:aws:iam::123456789012:role/team/acme-mover"


def usd(kind: str, name: str) -> float:
    price = price_of(kind, name, "us-east-1")  # type: ignore[arg-type]
    assert isinstance(price, Price)
    return price.usd


def test_a_put_costs_requests_and_storage_and_a_stage_costs_traffic() -> None:
    put = TransferAmounts(writes=2000, reads=1000, bytes_in=10 * GIB, stored=10 * GIB)
    cost = transfer_cost(environment(), put, "onprem")
    requests = 2 * usd("storage", "s3_standard_put") + usd("storage", "s3_standard_get")
    assert cost.total(monthly=False) == pytest.approx((requests, requests))
    assert cost.total(monthly=True) == pytest.approx((10 * usd("storage", "s3_standard"),) * 2)
    stage = transfer_cost(environment(), TransferAmounts(reads=1000, bytes_out=10 * GIB), "onprem")
    expected = usd("storage", "s3_standard_get") + 10 * usd("network", "internet_out_first_10_tb")
    assert stage.total(monthly=False) == pytest.approx((expected, expected)) and not stage.at_least
    assert all(charge.as_of is not None and charge.source for charge in (*cost.charges, *stage.charges))


def test_a_site_in_aws_pays_no_traffic() -> None:
    cost = transfer_cost(environment(), TransferAmounts(reads=1, bytes_out=GIB), "aws")
    assert [charge.price for charge in cost.charges] == ["s3_standard_get"]


def test_an_interface_endpoint_and_a_line_have_their_own_prices() -> None:
    endpoint = {("aws", "endpoints"): {"onprem": "https://vpce-0.s3.us-east-1.vpce.amazonaws.com"}}
    over = environment({**direct_connect(port="10g"), **endpoint})
    cost = transfer_cost(over, TransferAmounts(bytes_out=GIB), "onprem")
    names = [charge.price for charge in cost.charges]
    assert names == ["direct_connect_out", "interface_endpoint_gb", "transit_gateway_gb"]
    low, high = cost.total(monthly=False)
    assert low < high


def test_an_unknown_price_makes_the_sum_a_lower_bound() -> None:
    elsewhere = (
        environment(region="eu-central-1") if price_of("storage", "s3_standard", "eu-central-1") is None else None
    )
    assert elsewhere is not None
    cost = transfer_cost(elsewhere, TransferAmounts(bytes_out=GIB, reads=1), "onprem")
    assert cost.at_least and all(charge.usd is None for charge in cost.charges)
    assert "eu-central-1" in cost.charges[0].source


def test_a_class_is_refused_where_its_data_may_not_be() -> None:
    hybrid = shipped("hybrid")
    assert class_fault(hybrid, "internal") is None and class_fault(hybrid, "restricted", "onprem") is None
    fault = class_fault(hybrid, "restricted")
    assert fault is not None and fault.path == ("data_classes", "restricted", "sites")
    unknown = class_fault(hybrid, "internl")
    assert unknown is not None and unknown.fix == 'did you mean "internal"?'


@pytest.mark.parametrize(
    ("caller", "is_mover"),
    [
        ("arn:aws:sts::123456789012:assumed-role/acme-mover/nfs01", True),
        ("arn:aws:sts::123456789012:assumed-role/acme-mover-2/nfs01", False),
        ("arn:aws:sts::999999999999:assumed-role/acme-mover/nfs01", False),
        ("arn:aws:iam::123456789012:user/acme-mover", False),
        ("arn:aws:sts::123456789012:assumed-role/admin/acme-mover/x", False),
    ],
)
def test_only_a_session_of_the_role_is_the_mover(caller: str, is_mover: bool) -> None:
    outputs = StackOutputs(
        cluster="acme",
        region="us-east-1",
        network=NetworkOutput(vpc_id="vpc-0", cidr="10.60.0.0/16", subnets={}),
        data_hub=DataHubOutput(buckets={}),
        identity=IdentityOutput(node_instance_profile="-", node_role_arn="-", mover_role_arn=ROLE),
        secrets=SecretsOutput(slurm_key="-"),
        pools={},
    )
    assert (mover_fault(outputs, caller) is None) == is_mover
    none = outputs.model_copy(update={"identity": outputs.identity.model_copy(update={"mover_role_arn": None})})
    assert mover_fault(none, caller) is not None
