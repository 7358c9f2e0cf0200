"""The other files of the catalogue: results of their readers, and consistency between the files."""

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
from landbridge.catalog.hardware.fractional_gpus import fractional_gpus
from landbridge.catalog.hardware.hardware import FRACTIONS
from tests.unit.catalog.peers.compared import COMPLETE

LUSTRE = storage().fsx_lustre


@pytest.mark.parametrize(
    ("deployment", "disks", "sizes", "wrong"),
    [
        ("persistent_2", "ssd", (1200, 2400, 4800, 19200), (0, 1000, 1201, 3600, 6000)),
        ("scratch_1", "ssd", (1200, 2400, 3600, 7200), (4800, 6000)),
    ],
)
def test_lustre_has_its_valid_sizes(
    deployment: str, disks: str, sizes: tuple[int, ...], wrong: tuple[int, ...]
) -> None:
    (row,) = LUSTRE.rows(deployment, disks)
    assert all(row.has_size(gib) for gib in sizes)
    assert not any(row.has_size(gib) for gib in wrong)


def test_lustre_on_hard_disks_has_a_size_grid_for_each_throughput() -> None:
    slow, fast = LUSTRE.rows("persistent_1", "hdd")
    assert (slow.throughput, slow.step, fast.throughput, fast.step) == ((12,), 6000, (40,), 1800)
    assert LUSTRE.rows("persistent_2", "hdd") == ()


@given(st.sampled_from(LUSTRE.deployments), st.integers(min_value=0, max_value=200_000))
def test_the_next_size_is_the_smallest_valid_one(row: object, gib: int) -> None:
    assert isinstance(row, type(LUSTRE.deployments[0]))
    next_size = row.next_size(gib)
    assert next_size >= gib and row.has_size(next_size)
    assert not any(row.has_size(between) for between in range(gib, next_size, 50))
    assert row.has_size(gib) == (next_size == gib)


def test_efa_needs_more_storage_at_lower_throughput() -> None:
    steps = LUSTRE.efa.step_gib
    (row,) = LUSTRE.rows(LUSTRE.efa.deployment, "ssd")
    assert set(steps) == set(row.throughput)
    assert len({throughput * gib for throughput, gib in steps.items()}) == 1
    assert all(row.has_size(gib) for gib in steps.values())
    assert set(LUSTRE.efa.unsupported_families) <= set(instances().families)


def test_openzfs_deployments_are_those_of_the_regions() -> None:
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
def test_reserved_mounts_are_recognised(path: str, reserved: bool) -> None:
    assert storage().reserved_mounts.reserves(path) is reserved


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("security_group", "pool p5 (aws)", "sg-pool"),
        ("launch_template", "kit-p5", "k"),
        ("log_group", "/aws/landbridge", "logs here"),
        ("s3_bucket", "a-bucket", "A_Bucket"),
        ("iam_role", "node@kit", "n" * 65),
    ],
)
def test_names_of_resources_are_checked(kind: str, good: str, bad: str) -> None:
    rule = limits().names.rules[kind]
    assert rule.allows(good) and not rule.allows(bad)


def test_limits_refer_to_types_and_regions_of_the_catalogue() -> None:
    all_limits = limits()
    assert set(all_limits.capacity_blocks.regions) <= set(instances())
    for name, block_regions in all_limits.capacity_blocks.regions.items():
        assert "capacity_block" in instances()[name].purchase
        assert all("capacity_block" in regions()[region].services for region in block_regions)
    families = set(instances().families)
    for row in all_limits.quotas.rows:
        assert set(row.families) <= families
    assert all(quota_of(family, "on_demand") for family in COMPLETE)
    for kind in instances().values():
        if kind.ultraserver is not None:
            assert all_limits.ultraservers[kind.ultraserver].instance == kind.name
    codes = [row.code for row in all_limits.quotas.rows]
    assert len(codes) == len(set(codes))


def test_a_quota_that_is_not_known_is_none() -> None:
    quota = quota_of("p5en", "spot")
    assert quota is not None and (quota.code, quota.unit) == ("L-C4BD4855", "vcpu")
    assert quota_of("p6-b200", "spot") is None


def test_every_accelerated_type_has_an_image() -> None:
    for kind in instances().values():
        if kind.accelerators is None:
            continue
        fitting = [image for image in images().values() if image.driver in kind.driver]
        parameters = [image.parameter_for(kind.cpus.architecture) for image in fitting]
        # V100 and older need the proprietary modules, which no public image contains any more.
        assert any(parameters) or kind.driver == ("proprietary",)
    expected = "/aws/service/neuron/dlami/multi-framework/ubuntu-24.04/latest/image_id"
    assert images()["dlami-neuron-ubuntu-24.04"].parameter_for("x86_64") == expected
    assert images()["dlami-neuron-ubuntu-24.04"].parameter_for("arm64") is None


def test_a_fraction_of_a_gpu_has_that_part_of_its_memory() -> None:
    for name, fraction in fractional_gpus().items():
        whole = instances()[fraction.whole].accelerators
        assert whole is not None and whole.memory_mib is not None and whole.type == fraction.gpu.lower(), name
        assert (whole.count, whole.memory_mib * fraction.fraction) == (1, fraction.memory_mib), name
        assert fraction.fraction in FRACTIONS, name


def test_a_feature_has_all_its_endpoints_once() -> None:
    services_and_kinds = [(endpoint.service, endpoint.kind) for endpoint in endpoints_of(["ecr", "s3_from_onprem"])]
    assert services_and_kinds == [
        ("s3", "gateway"),
        ("ecr.api", "interface"),
        ("ecr.dkr", "interface"),
        ("s3", "interface"),
    ]
    everything = endpoints_of(endpoint_features())
    assert len({(endpoint.service, endpoint.kind) for endpoint in everything}) == len(everything)
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
def test_a_regime_permits_data_in_its_regions(regime: str, region: str, allowed: bool) -> None:
    assert regimes()[regime].allows_region(region) is allowed


def test_every_obligation_is_used_and_explained() -> None:
    used = {word for regime in regimes().values() for word in (*regime.obligations, *regime.onprem_only_with)}
    assert used == set(obligations())
    geographies = {region.geography for region in regions().values()}
    for regime in regimes().values():
        assert regime.aws is None or set(regime.aws.geographies) <= geographies
    assert "capacity_block" in services()
