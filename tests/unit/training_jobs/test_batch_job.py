"""The #SBATCH lines of a job file are read as sbatch reads them, and every fault is findings at its line."""

import pytest

from landbridge.plan.training.batch_job import BatchJob, parse_batch_job
from tests.unit.training_jobs.jobs import IMAGE, script


def parsed(text: str) -> BatchJob:
    job = parse_batch_job(text)
    assert isinstance(job, BatchJob), job
    return job


def test_a_job_file_has_what_a_training_job_needs() -> None:
    job = parsed(script("#SBATCH --comment='data=digits:1 retry'", "#SBATCH -N 2", "#SBATCH --mem 10G --exclusive"))
    assert (job.name, job.account, job.nodes, job.gpus, job.seconds) == ("digits", "vision", 2, 1, 7200)
    assert job.comment == "data=digits:1 retry" and job.image == IMAGE


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 5400), ("1:30", 90), ("1:00:05", 3605), ("1-2", 93_600), ("1-2:30", 95_400), ("2-00:00:01", 172_801)],
)
def test_times_have_the_forms_of_slurm(text: str, seconds: int) -> None:
    assert parsed(script(f"#SBATCH -t {text}", without="--time")).seconds == seconds


@pytest.mark.parametrize(
    ("line", "gpu", "gpus"),
    [
        ("--gres=gpu:a10g:4", "a10g", 4),
        ("--gres=nvme:1,gpu:2", "", 2),
        ("--gpus-per-node=L4:8", "l4", 8),
        ("--gpus=8 --nodes=2", "", 4),
        ("-G4", "", 4),
    ],
)
def test_gpus_are_those_of_a_node(line: str, gpu: str, gpus: int) -> None:
    job = parsed(script(f"#SBATCH {line}", without="--gpus-per-node=1"))
    assert (job.gpu, job.gpus) == (gpu, gpus)


def test_lines_after_the_first_command_are_no_options() -> None:
    assert parsed(script() + "#SBATCH --nodes=9\n").nodes == 1
    assert parsed(script("#SBATCH --nodes=2 # --nodes=3")).nodes == 2


def test_an_image_has_the_form_of_docker_or_of_enroot() -> None:
    registry, _, rest = IMAGE.partition("/")
    assert parsed(script(f"#SBATCH --container-image={registry}#{rest}")).image == IMAGE
    assert parsed(script(f"#SBATCH --container-image=docker://{IMAGE}")).image == IMAGE


def test_all_faults_are_found_at_once_with_their_lines() -> None:
    findings = parse_batch_job("#SBATCH --array=1-3 --time=soon\n#SBATCH --nodes=many\n#SBATCH --comment='x\n")
    assert isinstance(findings, list)
    faults = [(finding.line, finding.message.partition(":")[0].partition(" ")[0]) for finding in findings]
    assert faults == [(1, "the"), (1, "--array"), (3, "the"), (2, "--nodes=many"), (None, "the"), (1, "--time=soon"), (None, "the")]  # fmt: skip
