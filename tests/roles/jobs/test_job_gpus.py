"""The job program with environments as Slurm sets them: GPUs that it resets, and GPUs that drain the node."""
# ruff: noqa: F811 - fixtures are imported

import os

import pytest

from tests.roles.jobs.job_node import ADDRESSES, Node
from tests.roles.jobs.job_program import module, node  # noqa: F401


def test_only_the_jobs_gpus_are_reset_by_bus_address(node: Node) -> None:
    node.smi()
    assert node.run("epilog_slurmd") == 0
    ids = "00000000:43:00.0,00000000:52:00.0"
    assert node.calls == [f"-i {ids} --reset-gpu-clocks", f"-i {ids} --reset-memory-clocks"]


def test_deepops_936_gpus_are_reset_only_after_a_job_with_every_gpu(node: Node) -> None:
    node.smi()
    node.settings["gpu_reset"] = True
    assert node.run("epilog_slurmd") == 0
    assert not any("--gpu-reset" in call for call in node.calls)
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS="0,1,2,3") == 0
    assert node.calls[-1] == f"-i {','.join(ADDRESSES)} --gpu-reset"


def test_a_corrupted_inforom_is_a_message_and_no_fault_of_the_job(
    node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    node.smi("echo All done.; echo WARNING: infoROM is corrupted at gpu 0000:43:00.0; exit 14")
    assert node.run("epilog_slurmd") == 0
    assert "infoROM is corrupted at gpu 0000:43:00.0" in capsys.readouterr().err and node.failed == ""


def test_without_whole_gpus_nvidia_smi_is_not_called(node: Node) -> None:
    node.smi()
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS=None) == 0
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS="MIG-5c89852c-d268-5d52-84e6-f0e4e1e7f2a5") == 0
    assert node.calls == []


def test_without_nvidia_smi_a_message_is_printed_and_the_epilog_succeeds(
    node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    assert node.run("epilog_slurmd") == 0
    assert "no nvidia-smi on this node: nothing is restored on GPUs 2,3" in capsys.readouterr().err
    assert node.failed == ""


@pytest.mark.parametrize(
    ("does", "gpus", "message"),
    [
        (
            "echo 'Unable to determine the device handle: GPU is lost'; exit 15",
            "2",
            "ended with 15: Unable to determine",
        ),
        ("exec sleep 60", "2", "did not end within 0.3 s"),
        ("exit 0", "2,9", "the driver has no GPU 9 any more"),
    ],
)
def test_a_gpu_that_does_not_answer_drains_the_node(node: Node, does: str, gpus: str, message: str) -> None:
    node.smi(does)
    node.settings["gpu_timeout"] = 0.3
    node.run("prolog_slurmd", SLURM_JOB_GID="0")
    assert node.run("epilog_slurmd", SLURM_JOB_GPUS=gpus) == 1
    assert node.failed.startswith("landbridge:epilog:gpu: ") and message in node.failed
    assert os.listdir(node.root) == [], "the job's folder is deleted all the same"


def test_an_unsupported_gpu_setting_does_not_drain_the_node(node: Node) -> None:
    node.smi("echo 'Setting memory clocks is not supported for GPU 00000000:43:00.0.'; exit 3")
    assert node.run("epilog_slurmd") == 0
