"""MIG: placement of instances on a GPU, and the variables of Slurm and of the role mig."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog import gpus, platforms
from landbridge.catalog.hardware.mig import mig_profiles
from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.site.mig import gpu_numbers, place_instances
from landbridge.plan.slurm.files import slurm_files
from tests.unit.core.samples import environment

H100 = mig_profiles("h100-sxm5")
MIG = [{"gpus": "2,3", "instances": {"1g.10gb": 4, "3g.40gb": 1}}, {"gpus": "4-7", "instances": {"1g.10gb": 7}}]


def cut(**settings: object) -> Environment:
    return environment({("onprem", "nodes", 0, "mig"): MIG, **{("aws", key): value for key, value in settings.items()}})


def lines(chosen: Environment, name: str, first: str) -> list[str]:
    return [line for line in slurm_files(chosen)[name].splitlines() if line.startswith(first)]


def test_every_gpu_that_can_be_partitioned_has_profiles_and_no_other() -> None:
    assert {name for name, gpu in gpus().items() if gpu.mig} == {name for name in gpus() if mig_profiles(name)}


@pytest.mark.parametrize(
    ("requested", "placed"),
    [
        ({"1g.10gb": 7}, "0123456"),
        ({"3g.40gb": 2}, "04"),
        ({"4g.40gb": 1, "3g.40gb": 1}, "04"),
        (
            {"3g.40gb": 1, "1g.10gb": 4},
            "01234",
        ),  # the first place that the driver chooses for 3g would leave room for three
        ({"2g.20gb": 3, "1g.10gb": 1}, "0246"),
        ({"1g.20gb": 4}, "0246"),
        ({"7g.80gb": 1}, "0"),
    ],
    ids=str,
)
def test_instances_that_fit_are_placed(requested: dict[str, int], placed: str) -> None:
    placement = place_instances(H100, requested)
    assert "".join(str(start) for start, _ in placement) == placed
    assert {name: [profile for _, profile in placement].count(name) for name in requested} == requested


@pytest.mark.parametrize("requested", [{"1g.10gb": 8}, {"7g.80gb": 1, "1g.10gb": 1}, {"4g.40gb": 2}, {"2g.20gb": 4}])
def test_instances_that_do_not_fit_are_refused(requested: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="do not fit on one GPU"):
        place_instances(H100, requested)


@given(st.dictionaries(st.sampled_from(sorted(H100)), st.integers(1, 7), min_size=1, max_size=3))
def test_no_two_instances_share_memory(requested: dict[str, int]) -> None:
    try:
        placement = place_instances(H100, requested)
    except ValueError:
        return
    slices = [slice_ for start, name in placement for slice_ in range(start, start + H100[name].size)]
    assert len(slices) == len(set(slices)) <= 8
    assert all(start in H100[name].starts for start, name in placement)


def test_gpu_numbers_are_read_from_ranges() -> None:
    assert gpu_numbers("0-2,5", 8) == (0, 1, 2, 5) and gpu_numbers(None, 4) == (0, 1, 2, 3)


def test_deepops_894_slurm_counts_mig_instances_and_whole_gpus_without_manual_edits() -> None:
    (node,) = lines(cut(), "slurm.conf", "NodeName=dgx")
    assert "Gres=gpu:h100:2,gpu:h100_1g.10gb:36,gpu:h100_3g.40gb:2 " in node and ",mig " in node
    (tres,) = lines(cut(), "slurm.conf", "AccountingStorageTRES=")
    assert tres.endswith("gres/gpu,gres/gpu:h100,gres/gpu:h100_1g.10gb,gres/gpu:h100_3g.40gb")
    gres = lines(cut(), "gres.conf", "NodeName=dgx[01-02]")
    assert len(gres) == 1 + 36 + 2
    assert gres[0] == "NodeName=dgx[01-02] Name=gpu Type=h100 File=/dev/nvidia[0-1]"
    assert gres[5] == (
        "NodeName=dgx[01-02] Name=gpu Type=h100_3g.40gb "
        "MultipleFiles=/dev/nvidia2,/run/landbridge/mig/2/4/gi,/run/landbridge/mig/2/4/ci"
    )


def test_a_job_that_requests_a_gpu_gets_a_whole_one() -> None:
    partitions = {line.split()[0].partition("=")[2]: line for line in lines(cut(), "slurm.conf", "PartitionName=")}
    assert " Nodes=p5-[1-4] " in partitions["gpu"] and " DefCpuPerGPU=24 " in partitions["gpu"]
    assert " Nodes=dgx[01-02] " in partitions["mig"] and " DefCpuPerGPU=4 " in partitions["mig"]
    # Without other nodes, the partition has the nodes with MIG.
    alone = cut(pools=[])
    partitions = {line.split()[0].partition("=")[2]: line for line in lines(alone, "slurm.conf", "PartitionName=")}
    assert " Nodes=dgx[01-02] " in partitions["gpu"]


def test_the_mig_role_gets_the_instances_and_placements_of_each_gpu() -> None:
    hosts = inventory(cut())["_meta"]["hostvars"]
    layout = hosts["dgx02"]["mig_layout"]
    assert sorted(layout) == ["2", "3", "4", "5", "6", "7"]
    assert layout["2"] == ["1g.10gb:0", "1g.10gb:1", "1g.10gb:2", "1g.10gb:3", "3g.40gb:4"]
    assert "mig_layout" not in hosts["ctl01"]
    assert "mig_layout" not in inventory(environment())["_meta"]["hostvars"]["dgx01"]


def test_node_health_expects_the_mig_instances_and_fewer_links() -> None:
    expected = inventory(cut())["_meta"]["hostvars"]["dgx01"]["node_health_expected"]["gpus"]
    assert expected["mig"] == {"1g.10gb": 36, "3g.40gb": 2}
    assert expected["count"] == platforms()["dgx-h100"].gpus.count and expected["links"] == 18
