"""Slurm's lines of a pool's nodes with the pool's own settings."""

from tests.unit.plan.slurm.test_slurm import conf, fields

POOL = ("aws", "pools", 0)
CPU_POOL = {(*POOL, "name"): "cpu", (*POOL, "instance"): "c7i.24xlarge"}


def test_without_smt_a_node_has_one_cpu_for_each_core() -> None:
    node = fields(conf({(*POOL, "threads_per_core"): 1})["NodeName=p5-[1-4]"])
    assert (node["Sockets"], node["CoresPerSocket"], node["ThreadsPerCore"]) == ("2", "48", "1")
    default = fields(conf()["NodeName=p5-[1-4]"])
    assert {**default, "ThreadsPerCore": "1"} == node


def test_without_smt_the_default_cpus_of_a_gpu_are_its_cores() -> None:
    values = conf({(*POOL, "threads_per_core"): 1})
    assert fields(values["PartitionName=p5"])["DefCpuPerGPU"] == "12"
    # In a partition of both sites, one job for each GPU fits on the smallest node.
    assert fields(values["PartitionName=gpu"])["DefCpuPerGPU"] == "12"
    assert (
        fields(values["PartitionName=onprem"])["DefCpuPerGPU"] == fields(conf()["PartitionName=onprem"])["DefCpuPerGPU"]
    )


def test_settings_of_a_pool_are_in_its_node_line_alone() -> None:
    slurm = {"weight": 500, "MemSpecLimit": 16384, "CoreSpecCount": 2, "TRESWeights": "gres/gpu=2.0", "TmpDisk": 1000}
    values, default = conf({(*POOL, "slurm"): slurm}), conf()
    node = fields(values["NodeName=p5-[1-4]"])
    assert {key: node[key] for key in ("Weight", "MemSpecLimit", "CoreSpecCount", "TRESWeights", "TmpDisk")} == {
        "Weight": "500",
        "MemSpecLimit": "16384",
        "CoreSpecCount": "2",
        "TRESWeights": "gres/gpu=2.0",
        "TmpDisk": "1000",
    }
    changed = {key for key in values if values[key] != default[key]}
    # DefCpuPerGPU and DefMemPerGPU of the partitions with these nodes follow.
    assert changed == {"NodeName=p5-[1-4]", "PartitionName=p5", "PartitionName=gpu"}


def test_the_share_of_a_gpu_follows_from_reserved_cores_and_memory() -> None:
    slurm = {"realmemory": 1_600_000, "MemSpecLimit": 80_000, "CoreSpecCount": 8}
    partition = fields(conf({(*POOL, "slurm"): slurm})["PartitionName=p5"])
    assert (partition["DefCpuPerGPU"], partition["DefMemPerGPU"]) == (
        str(2 * (96 - 8) // 8),
        str((1_600_000 - 80_000) // 8),
    )


def test_memory_of_the_file_is_not_reduced_by_huge_pages() -> None:
    huge = {("hosts", "tuning"): {"huge_pages": 100}}
    assert fields(conf(huge)["NodeName=p5-[1-4]"])["RealMemory"] == str(int(2097152 * 0.95) - 200)
    exact = conf({**huge, (*POOL, "slurm"): {"RealMemory": 2_000_000}})
    assert fields(exact["NodeName=p5-[1-4]"])["RealMemory"] == "2000000"


def test_null_deletes_a_key_of_the_line() -> None:
    node = fields(conf({(*POOL, "slurm"): {"Weight": None, "CoreSpecCount": None}})["NodeName=p5-[1-4]"])
    assert "Weight" not in node and "CoreSpecCount" not in node
