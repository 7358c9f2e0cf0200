"""The other files of the catalogue: what their readers answer, and that the files agree with one another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog import (
    endpoint_features,
    endpoints_of,
    images,
    instances,
    limits,
    obligations,
    quota_of,
    regimes,
    regions,
    services,
    storage,
)
from tests.unit.catalog.peers.compared import COMPLETE

LUSTRE = storage().fsx_lustre


@pytest.mark.parametrize(
    ("deployment", "disks", "sizes", "wrong"),
    [
        ("persistent_2", "ssd", (1200, 2400, 4800, 19200), (0, 1000, 1201, 3600, 6000)),
        ("scratch_1", "ssd", (1200, 2400, 3600, 7200), (4800, 6000)),
    ],
)
def test_sizes_of_lustre(deployment: str, disks: str, sizes: tuple[int, ...], wrong: tuple[int, ...]) -> None:
    (row,) = LUSTRE.rows(deployment, disks)
    assert all(row.has_size(gib) for gib in sizes)
    assert not any(row.has_size(gib) for gib in wrong)


def test_lustre_on_hard_disks_has_a_size_grid_for_each_throughput() -> None:
    slow, fast = LUSTRE.rows("persistent_1", "hdd")
    assert (slow.throughput, slow.step, fast.throughput, fast.step) == ((12,), 6000, (40,), 1800)
    assert LUSTRE.rows("persistent_2", "hdd") == ()


@given(st.sampled_from(LUSTRE.deployments), st.integers(min_value=0, max_value=200_000))
def test_the_next_size_is_the_least_there_is(row: object, gib: int) -> None:
    assert isinstance(row, type(LUSTRE.deployments[0]))
    found = row.next_size(gib)
    assert found >= gib and row.has_size(found)
    assert not any(row.has_size(between) for between in range(gib, found, 50))
    assert row.has_size(gib) == (found == gib)


def test_efa_needs_more_storage_the_slower_it_is() -> None:
    steps = LUSTRE.efa.step_gib
    (row,) = LUSTRE.rows(LUSTRE.efa.deployment, "ssd")
    assert set(steps) == set(row.throughput)
    assert len({throughput * gib for throughput, gib in steps.items()}) == 1
    assert all(row.has_size(gib) for gib in steps.values())
    assert set(LUSTRE.efa.unsupported_families) <= set(instances().families)


def test_openzfs_names_its_deployments_as_regions_do() -> None:
    known = set(storage().fsx_openzfs.deployments)
    listed = [region.openzfs for region in regions().values() if region.openzfs is not None]
    assert set().union(*listed) == known


@pytest.mark.parametrize(
    ("path", "reserved"),
    [
        ("/", True),
        ("/home", True),
        ("/home/shared", False),
        ("/etc/x", True),
        ("/opt/slurm", True),
        ("/scratch/", False),
    ],
)
def test_reserved_mounts(path: str, reserved: bool) -> None:
    assert storage().reserved_mounts.reserves(path) is reserved


@pytest.mark.parametrize(
    ("what", "good", "bad"),
    [
        ("security_group", "pool p5 (aws)", "sg-pool"),
        ("launch_template", "kit-p5", "k"),
        ("log_group", "/aws/landbridge", "logs here"),
        ("s3_bucket", "a-bucket", "A_Bucket"),
        ("iam_role", "node@kit", "n" * 65),
    ],
)
def test_names(what: str, good: str, bad: str) -> None:
    rule = limits().names.rules[what]
    assert rule.allows(good) and not rule.allows(bad)


def test_limits_speak_of_what_the_catalogue_has() -> None:
    found = limits()
    assert set(found.capacity_blocks.regions) <= set(instances())
    for name, where in found.capacity_blocks.regions.items():
        assert "capacity_block" in instances()[name].purchase
        assert all("capacity_block" in regions()[region].services for region in where)
    families = set(instances().families)
    for row in found.quotas.rows:
        assert set(row.families) <= families
    assert all(quota_of(family, "on_demand") for family in COMPLETE)
    for kind in instances().values():
        if kind.ultraserver is not None:
            assert found.ultraservers[kind.ultraserver].instance == kind.name
    codes = [row.code for row in found.quotas.rows]
    assert len(codes) == len(set(codes))


def test_a_quota_that_is_not_known_is_none() -> None:
    found = quota_of("p5en", "spot")
    assert found is not None and (found.code, found.unit) == ("L-C4BD4855", "vcpu")
    assert quota_of("p6-b200", "spot") is None


def test_images_for_every_architecture_and_driver() -> None:
    for kind in instances().values():
        if kind.accelerators is None:
            continue
        fitting = [image for image in images().values() if image.driver in kind.driver]
        found = [image.parameter_for(kind.cpus.architecture, "1.34") for image in fitting]
        # V100 and older run with proprietary modules alone, which no public image has any more.
        assert any(found) or kind.driver == ("proprietary",)
    eks = images()["eks-nvidia-amazon-linux-2023"]
    assert eks.parameter_for("x86_64") is None
    expected = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/nvidia/recommended/image_id"
    assert eks.parameter_for("arm64", "1.34") == expected


def test_endpoints_come_with_what_their_feature_needs() -> None:
    found = [(one.service, one.kind) for one in endpoints_of(["ecr", "s3_from_onprem"])]
    assert found == [("s3", "gateway"), ("ecr.api", "interface"), ("ecr.dkr", "interface"), ("s3", "interface")]
    everything = endpoints_of(endpoint_features())
    assert len({(one.service, one.kind) for one in everything}) == len(everything)
    with pytest.raises(KeyError):
        endpoints_of(["teleport"])


@pytest.mark.parametrize(
    ("regime", "region", "allowed"),
    [
        ("hipaa", "us-east-1", True),
        ("hipaa", "us-gov-west-1", True),
        ("hipaa", "eu-west-1", False),
        ("fedramp_high", "us-east-1", False),
        ("fedramp_high", "us-gov-east-1", True),
        ("itar", "us-east-1", False),
        ("gdpr", "eu-central-1", True),
        ("gdpr", "eu-west-2", False),
        ("gdpr", "us-east-1", False),
        ("pci_dss", "ap-northeast-1", True),
        ("classified", "us-gov-west-1", False),
        ("hipaa", "mars-1", False),
    ],
)
def test_where_a_regime_allows_data(regime: str, region: str, allowed: bool) -> None:
    assert regimes()[regime].allows_region(region) is allowed


def test_every_obligation_is_used_and_explained() -> None:
    used = {word for regime in regimes().values() for word in regime.obligations}
    assert used == set(obligations())
    geographies = {region.geography for region in regions().values()}
    for regime in regimes().values():
        assert regime.aws is None or set(regime.aws.geographies) <= geographies
    assert {"eks_hybrid_nodes", "capacity_block"} <= services()
