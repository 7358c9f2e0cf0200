"""A job that is interrupted at one site goes on at the other one from the bucket alone."""

import signal

from tests.unit.checkpoints_of_jobs.conftest import Hub

EVERY, STEPS = 3, 12


def test_a_job_killed_at_each_site_has_the_losses_of_an_undisturbed_one(hub: Hub) -> None:
    first = hub.train("onprem", 0, pause_at=4)
    first.wait_for("paused")
    first.kill()
    second = hub.train("aws", 1, pause_at=8)
    second.wait_for("paused")
    second.kill()
    third = hub.train("onprem", 2).finished()
    whole = hub.train("elsewhere", job="8", run="whole").finished()
    assert "(step 3) from the bucket" in second.text() and "(step 6) from the bucket" in third.text()
    assert {**first.losses, **second.losses, **third.losses} == whole.losses
    assert list(whole.losses) == list(range(1, STEPS + 1))
    # At most an interval is computed again.
    assert (min(second.losses), max(first.losses)) == (4, 4) and (min(third.losses), max(second.losses)) == (7, 8)
    assert hub.latest()["generation"] | {"writer": ""} == {"number": 3, "job": "7", "restarts": 2, "writer": ""}
    assert hub.latest()["checkpoint"]["step"] == STEPS and "finished" in third.text()


def test_a_signal_saves_after_the_step_and_nothing_is_computed_again(hub: Hub) -> None:
    first = hub.train("onprem", 0, pause_at=4)
    first.wait_for("paused")
    first.process.send_signal(signal.SIGUSR1)
    first.finished()
    second = hub.train("aws", 1).finished()
    assert list(first.losses) == [1, 2, 3, 4, 5] and list(second.losses) == list(range(6, STEPS + 1))
    assert "(step 5) from the bucket" in second.text()


def test_without_a_bucket_the_shared_file_system_is_enough(hub: Hub) -> None:
    """Data of a class that must stay on-prem has no bucket."""
    hub.environ = lambda restarts=0, job="7": {**hub.variables, "SLURM_JOB_ID": job}  # type: ignore[method-assign]
    shared = str(hub.folder / "shared")
    first = hub.train("node-1", shared=shared, pause_at=7)
    first.wait_for("paused")
    first.kill()
    second = hub.train("node-2", 1, shared=shared).finished()
    assert "(step 6) from the shared file system" in second.text() and min(second.losses) == 7
    assert hub.s3.list_objects_v2(Bucket="acme-internal-123456789012").get("Contents") is None
