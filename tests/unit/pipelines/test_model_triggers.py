"""Triggers by registered models: the decisions, and a real MLflow beside a service that is killed with kill -9."""

import json
import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from landbridge.live.models import publish
from landbridge.live.models.registry import ModelRegistry
from landbridge.models.aliases import STAGING, promotion, withdrawal
from landbridge.models.version_tags import DIGEST_TAG, KEY_DIGITS
from landbridge.pipelines.reconcile.triggers import model_of
from landbridge.pipelines.runs.names import run_name
from landbridge.pipelines.service import queue
from landbridge.pipelines.service.config import AccountRegistry
from landbridge.pipelines.service.registry import read_models
from tests.unit.models.folders import onnx_bytes, write_folder
from tests.unit.pipelines.pipeline_world import World, source
from tests.unit.pipelines.test_pipeline_service import install, one_pass

STEPS = [{"name": "evaluate"}]


def definition(model: str, registered: float, *, alias: str | None = None, owner: str = "ann") -> dict[str, Any]:
    """Return the registration of a pipeline whose trigger is a model."""
    trigger = {"kind": "model", "model": model, **({"alias": alias} if alias else {})}
    return {**source(STEPS, triggers=[trigger], owner=owner).to_json(), "registered": registered, "datasets": []}


def event(key: str, at: float, **keys: str) -> dict[str, Any]:
    """Return an event as the reader of the registry has it."""
    return {"key": key, "at": at, "pipeline_run": "", **keys}


def test_each_version_after_the_registration_starts_one_run_the_oldest_first() -> None:
    world = World(models={"digits": [event("digits:1", 5_000.0)]})
    world.definitions["digits"] = definition("digits", 6_000.0)
    world.run(20)
    assert not world.jobs
    world.models["digits"] += [event("digits:3", 7_000.0), event("digits:2", 6_500.0)]
    world.run(80)
    assert [record.request.key for record in world.ended.values()] == ["digits:2", "digits:3"]
    assert len(world.jobs) == 2 and {record.outcome for record in world.ended.values()} == {"succeeded"}


def test_moves_of_other_aliases_and_versions_start_nothing_and_each_move_of_the_alias_one_run() -> None:
    world = World(
        models={
            "digits": [
                event("digits:2", 7_000.0),
                event("digits@champion:1#1", 7_000.0, alias="champion"),
                event("digits@staging:2#2", 7_000.0, alias="staging"),
            ]
        }
    )
    world.definitions["digits"] = definition("digits", 6_000.0, alias="staging")
    world.run(40)
    # The same version is staging again after it was withdrawn.
    world.models["digits"][2] = event("digits@staging:2#4", world.now, alias="staging")
    world.run(40)
    assert [record.request.key for record in world.ended.values()] == ["digits@staging:2#2", "digits@staging:2#4"]


def test_a_version_that_a_run_of_the_pipeline_registered_starts_nothing() -> None:
    same, other = run_name("digits", "hand", "1"), run_name("digits-large", "hand", "1")
    world = World(models={"digits": [event("digits:2", 7_000.0) | {"pipeline_run": same}]})
    world.definitions["digits"] = definition("digits", 6_000.0)
    world.run(20)
    assert not world.jobs
    world.models["digits"].append(event("digits:3", 7_000.0) | {"pipeline_run": other})
    world.run(40)
    assert [record.request.key for record in world.ended.values()] == ["digits:3"]


@pytest.mark.parametrize(
    ("former", "present", "keys"),
    [
        ("digits:2", "digits:2-{}", {}),
        ("digits@staging:2#5", "digits@staging:2#5-{}", {"alias": "staging"}),
    ],
)
def test_a_run_by_the_key_of_an_earlier_release_counts_for_versions_from_before_its_end(
    former: str, present: str, keys: dict[str, str]
) -> None:
    ended = 9_000.0
    world = World(past={"ann": {run_name("digits", "model", former): ended}})
    world.definitions["digits"] = definition("digits", 6_000.0, **keys)
    world.models["digits"] = [event(present.format("aa"), ended - 10, **keys)]
    world.run(20)
    assert not world.jobs
    # It was deleted and created again while the earlier release ran, and once more after that.
    world.models["digits"] = [event(present.format("bb"), ended + 10, **keys)]
    world.run(40)
    world.models["digits"] = [event(present.format("cc"), world.now, **keys)]
    world.run(40)
    assert [record.request.key for record in world.ended.values()] == [present.format("bb"), present.format("cc")]
    assert len(world.jobs) == 2


@pytest.mark.parametrize("former", ["digits:7", "digits@staging:7#3"])
def test_the_key_of_an_event_names_the_version(former: str) -> None:
    assert model_of(former) == model_of(f"{former}-0123456789abcdef") == "digits/7"


@pytest.fixture
def site(registry_uri: str) -> Iterator[tuple[Path, str, ModelRegistry]]:
    """Folder of the service, its owner, and the registry."""
    owner = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    folder = Path(os.path.realpath(f"/tmp/landbridge-models-{os.getpid()}-{time.monotonic_ns()}"))
    folder.mkdir(mode=0o755)
    try:
        yield folder, owner, ModelRegistry(registry_uri)
    finally:
        shutil.rmtree(folder)


def publish_version(registry: ModelRegistry, folder: Path, name: str, bias: float, run: str = "") -> str:
    """Register a version of a model."""
    written = write_folder(folder, onnx_bytes(bias), name)
    return publish.register(registry, written, "ann", time.time(), run).version


def mark_of(registry: ModelRegistry, name: str, version: str) -> str:
    """Return the digits by which keys name the content of a version."""
    return registry.version(name, version).digest[:KEY_DIGITS]


def events_of(uri: str, home: Path, model: str, account: str = "lab") -> tuple[list[dict[str, Any]], list[str]]:
    """Return the events of a model in a registry, and the faults."""
    content: dict[str, Any] = {"definitions": {"p": definition(model, 0.0)}, "faults": []}
    return read_models(home, {account: AccountRegistry(uri)}, content).get("lab", {}).get(model, []), content["faults"]


def test_the_events_of_a_registry(site: tuple[Path, str, ModelRegistry], tmp_path: Path) -> None:
    _, _, registry = site
    began = time.time() - 1
    first = publish_version(registry, tmp_path / "a", "events", 1.0)
    second = publish_version(registry, tmp_path / "b", "events", 2.0, "digits-0123456789")
    # A registration that was interrupted has no digest.
    registry.create("events", {})
    events, faults = events_of(registry.uri, tmp_path, "events")
    first_mark, second_mark = mark_of(registry, "events", "1"), mark_of(registry, "events", "2")
    assert not faults and first_mark != second_mark
    assert [each["key"] for each in events] == [
        f"events:2-{second_mark}",
        f"events:1-{first_mark}",
        f"events@candidate:2#2-{second_mark}",
    ]
    assert [each["pipeline_run"] for each in events] == ["digits-0123456789", "", "digits-0123456789"]
    # The record of a move has whole seconds.
    assert all(began - 1 <= each["at"] <= time.time() + 1 for each in events)
    assert (first, second) == ("1", "2")
    moved = promotion(registry.aliases("events"), "2", STAGING)
    assert not isinstance(moved, str)
    publish.move_alias(registry, "events", moved, "ann", "test", time.time())
    back = withdrawal(registry.aliases("events"), "2")
    assert back is not None
    publish.move_alias(registry, "events", back, "ann", "test", time.time())
    publish.move_alias(registry, "events", moved, "ann", "again", time.time())
    events, _ = events_of(registry.uri, tmp_path, "events")
    assert [each["key"] for each in events if each.get("alias") == STAGING] == [f"events@staging:2#5-{second_mark}"]
    # MLflow's own client writes no record.
    registry.set_alias("events", STAGING, "1")
    events, _ = events_of(registry.uri, tmp_path, "events")
    assert [each["key"] for each in events if each.get("alias") == STAGING] == [f"events@staging:1#0-{first_mark}"]
    # The digest is a tag, which others may write; keys are in logs and environments of jobs.
    registry.set_tags(registry.version("events", "1"), {DIGEST_TAG: "a-b#c:d\n0e" + "f" * 40})
    events, _ = events_of(registry.uri, tmp_path, "events")
    assert f"events:1-abcd0e{'f' * 10}" in [each["key"] for each in events]


def test_a_registry_without_the_model_or_without_an_answer_stops_no_other_trigger(
    site: tuple[Path, str, ModelRegistry], tmp_path: Path
) -> None:
    _, _, registry = site
    assert events_of(registry.uri, tmp_path, "absent") == ([], [])
    events, (fault,) = events_of("http://127.0.0.1:9", tmp_path, "absent")
    assert not events and "model absent of account lab" in fault
    events, (fault,) = events_of(registry.uri, tmp_path, "absent", account="other")
    assert not events and "has no MLflow server" in fault
    credentials = tmp_path / ".mlflow" / "credentials"
    credentials.parent.mkdir()
    credentials.write_text("[mlflow]\nmlflow_tracking_username = ann\npassword of ann\n")
    events, (fault,) = events_of(registry.uri, tmp_path, "absent")
    assert not events and "credentials cannot be read" in fault and "password of ann" not in fault


def install_with_registry(folder: Path, registered: dict[str, Any], registry: ModelRegistry) -> Path:
    """Install the service with a registered pipeline; return the owner's home."""
    owner = registered["definition"]["owner"]
    home = install(folder, owner)
    settings = json.loads((folder / "pipelines.json").read_text())
    settings["registries"] = {"lab": {"uri": registry.uri}}
    (folder / "pipelines.json").write_text(json.dumps(settings))
    queue.write_json(home / queue.FOLDER / queue.DEFINITIONS / "digits.json", registered)
    subprocess.run(["chown", "-R", owner, str(home)], check=True)
    return home


@pytest.mark.parametrize(
    ("deadly", "lost"),
    [
        ("sbatch after", False),
        ("sbatch after", True),
        pytest.param("sbatch before", True, marks=pytest.mark.long),
        pytest.param("squeue after", True, marks=pytest.mark.long),
    ],
)
def test_a_version_starts_one_run_wherever_the_service_is_killed(
    site: tuple[Path, str, ModelRegistry], tmp_path: Path, deadly: str, lost: bool
) -> None:
    folder, owner, registry = site
    name = f"killed-{deadly.replace(' ', '-')}-{lost}"
    registered = definition(name, time.time() - 60, alias="candidate", owner=owner)
    home = install_with_registry(folder, registered, registry)
    assert one_pass(folder) == 0 and not json.loads((folder / "slurm" / "jobs.json").read_text())
    publish_version(registry, tmp_path / "v1", name, 1.0)
    (folder / "slurm" / "kill").write_text(deadly)
    has_died = False
    for _ in range(30):
        if one_pass(folder) != 0:
            has_died = True
            if lost:
                shutil.rmtree(folder / "state")
        ended = queue.names_in(home / queue.FOLDER / queue.ENDED)
        if ended:
            break
    for _ in range(3):
        one_pass(folder)
    key = f"{name}@candidate:1#1-{mark_of(registry, name, '1')}"
    run = run_name("digits", "model", key)
    assert has_died and queue.names_in(home / queue.FOLDER / queue.ENDED) == [run]
    (job,) = json.loads((folder / "slurm" / "jobs.json").read_text())
    assert job["name"] == f"{run}.evaluate"
    assert job["environment"]["LANDBRIDGE_MODEL"] == f"{name}/1"
    assert job["environment"]["LANDBRIDGE_TRIGGER"] == f"model:{key}"


@pytest.mark.parametrize("alias", [None, pytest.param("candidate", marks=pytest.mark.long)])
def test_a_version_that_is_created_again_with_other_files_starts_one_run(
    site: tuple[Path, str, ModelRegistry], tmp_path: Path, alias: str | None
) -> None:
    folder, owner, registry = site
    name = f"again-{alias or 'each'}"
    registered = definition(name, time.time() - 60, alias=alias, owner=owner)
    home = install_with_registry(folder, registered, registry)

    def runs_after_passes() -> list[str]:
        for _ in range(5):
            assert one_pass(folder) == 0
        return queue.names_in(home / queue.FOLDER / queue.ENDED)

    publish_version(registry, tmp_path / "v1", name, 1.0)
    first = runs_after_passes()
    # The same files again are no other version.
    registry._client.delete_registered_model(name)
    publish_version(registry, tmp_path / "same", name, 1.0)
    assert len(first) == 1 and runs_after_passes() == first
    registry._client.delete_registered_model(name)
    assert publish_version(registry, tmp_path / "v2", name, 2.0) == "1"
    both = runs_after_passes()
    assert len(both) == 2 and set(first) < set(both)
    assert runs_after_passes() == both
    jobs = json.loads((folder / "slurm" / "jobs.json").read_text())
    assert [job["environment"]["LANDBRIDGE_MODEL"] for job in jobs] == [f"{name}/1"] * 2
