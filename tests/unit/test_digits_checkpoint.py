"""Checkpoints of the training example: complete and verified, or absent."""

import json
from pathlib import Path

import checkpoints
import numpy as np
import pytest
import world

STATE = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "step": np.int32(5)}


def save(root: Path, *epochs: int) -> None:
    for epoch in epochs:
        checkpoints.write(root, epoch, STATE, {"site": "onprem"})


def test_a_written_checkpoint_is_read_back(tmp_path: Path) -> None:
    save(tmp_path, 3)
    checkpoint = checkpoints.newest(tmp_path)
    assert checkpoint is not None and checkpoint.epoch == 3 and checkpoint.facts == {"site": "onprem"}
    arrays = checkpoint.arrays()
    assert arrays.keys() == STATE.keys()
    np.testing.assert_array_equal(arrays["w"], STATE["w"])


def test_manifest_carries_size_and_digest_of_the_state(tmp_path: Path) -> None:
    save(tmp_path, 1)
    manifest = json.loads((tmp_path / "epoch-000001" / "manifest.json").read_text())
    state = tmp_path / "epoch-000001" / "state.npz"
    assert manifest["files"] == {"state.npz": {"sha256": checkpoints.sha256(state), "bytes": state.stat().st_size}}
    assert sorted(p.name for p in (tmp_path / "epoch-000001").iterdir()) == ["manifest.json", "state.npz"]


def test_newest_is_by_number_and_not_by_name(tmp_path: Path) -> None:
    save(tmp_path, 999_999, 1_000_000, 2)
    checkpoint = checkpoints.newest(tmp_path)
    assert checkpoint is not None and checkpoint.epoch == 1_000_000


def flip_a_byte(folder: Path) -> None:
    data = bytearray((folder / "state.npz").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (folder / "state.npz").write_bytes(data)


def truncate(folder: Path) -> None:
    data = (folder / "state.npz").read_bytes()
    (folder / "state.npz").write_bytes(data[:-10])


def pretend_another_epoch(folder: Path) -> None:
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace('"epoch": 2', '"epoch": 9'))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (flip_a_byte, "does not match its SHA-256"),
        (truncate, "the manifest has"),
        (lambda folder: (folder / "manifest.json").unlink(), "never finished"),
        (lambda folder: (folder / "state.npz").unlink(), "is missing"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "unreadable"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "unreadable"),
        (pretend_another_epoch, "another checkpoint"),
    ],
)
def test_a_damaged_newest_checkpoint_is_reported_and_the_one_before_is_used(tmp_path, damage, reason) -> None:
    save(tmp_path, 1, 2)
    damage(tmp_path / "epoch-000002")
    messages: list[str] = []
    checkpoint = checkpoints.newest(tmp_path, messages.append)
    assert checkpoint is not None and checkpoint.epoch == 1
    assert len(messages) == 1 and reason in messages[0] and "epoch-000002" in messages[0]


def test_a_missing_or_foreign_folder_is_no_checkpoint(tmp_path: Path) -> None:
    assert checkpoints.newest(tmp_path / "absent") is None
    (tmp_path / "epoch-x").mkdir()
    (tmp_path / "notes").write_text("")
    assert checkpoints.newest(tmp_path) is None


def test_rewriting_an_epoch_withdraws_the_old_manifest_first(tmp_path: Path) -> None:
    save(tmp_path, 1)

    class Crash(Exception):
        pass

    class Bad(dict):
        def __iter__(self):
            raise Crash

        keys = items = __iter__

    with pytest.raises(Crash):
        checkpoints.write(tmp_path, 1, Bad(), {})
    assert checkpoints.newest(tmp_path) is None


def test_prune_keeps_the_newest(tmp_path: Path) -> None:
    save(tmp_path, 1, 2, 3, 4)
    checkpoints.prune(tmp_path, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["epoch-000003", "epoch-000004"]


def test_a_place_in_the_run_from_slurm_and_from_explicit_variables() -> None:
    slurm = {
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_PROCID": "1",
        "SLURMD_NODENAME": "p5-2",
        "SLURM_JOB_ID": "17",
        "SLURM_CLUSTER_NAME": "sandbox",
        "SLURM_RESTART_COUNT": "1",
        "LANDBRIDGE_COORDINATOR": "10.60.0.31:20017",
        "LANDBRIDGE_SITE": "aws",
    }
    place = world.read_world(slurm)
    assert (place.rank, place.size, place.hostname, place.site) == (1, 2, "p5-2", "aws")
    assert (place.job_id, place.cluster, place.restarts, place.leads) == ("17", "sandbox", 1, False)
    explicit = world.read_world({**slurm, "LANDBRIDGE_PROCESS_COUNT": "1", "LANDBRIDGE_PROCESS_ID": "0"})
    assert (explicit.rank, explicit.size, explicit.leads) == (0, 1, True)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, "LANDBRIDGE_COORDINATOR"),
        ({"LANDBRIDGE_PROCESS_COUNT": "2", "LANDBRIDGE_PROCESS_ID": "2"}, "not a place"),
        ({"LANDBRIDGE_PROCESS_COUNT": "2"}, "LANDBRIDGE_PROCESS_ID is not set"),
        ({"LANDBRIDGE_PROCESS_COUNT": "two", "LANDBRIDGE_PROCESS_ID": "0"}, "not a number"),
    ],
)
def test_a_contradictory_environment_is_refused(variables, message) -> None:
    with pytest.raises(world.WorldError, match=message):
        world.read_world(variables)


def test_processes_listen_on_the_address_that_reaches_the_coordinator() -> None:
    """The machine's own name resolves to 127.0.1.1 on Debian, or not at all, and is not used."""
    import collectives

    assert collectives.address_towards("127.0.0.1:29500") == "127.0.0.1"
    assert collectives.address_towards("[::1]:29500") == "::1"
