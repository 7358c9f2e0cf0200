"""Deletion of staged copies and of results: never of those that a job states, and only if mover and controller answer."""

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.findings import FindingsError
from landbridge.live.datasets import ContentStore
from landbridge.live.staging.collect import CopyRules, StagedCopy, cloud_copies, copies_to_delete, delete_copies
from landbridge.live.staging.mover import Mover
from landbridge.staging.exchange import read_reports, write_in_use
from landbridge.staging.places import DataInUse, DatasetPlace
from tests.unit.live.datasets.conftest import contents
from tests.unit.live.staging.conftest import MoverHost
from tests.unit.live.staging.test_mover import AT_SITE, IN_AWS
from tests.unit.live.staging.test_results import ENDED, run, write

NOW = datetime(2026, 11, 26, tzinfo=UTC)
DAY = timedelta(days=1)


def copy(name: str, days: float, size: int = 10) -> StagedCopy:
    return StagedCopy(f"{name}:1", size, NOW - days * DAY)


@pytest.mark.parametrize(
    ("rules", "in_use", "deleted"),
    [
        (CopyRules(7 * DAY), [], ["c"]),
        (CopyRules(7 * DAY), ["c"], []),
        (CopyRules(7 * DAY, 10), [], ["b", "c"]),
        (CopyRules(7 * DAY, 10), ["b"], ["c"]),
        (CopyRules(100 * DAY, 20), [], ["c"]),
        (CopyRules(100 * DAY, 30), [], []),
        (CopyRules(timedelta(0)), ["a", "b", "c"], []),
    ],
)
def test_copies_are_deleted_by_age_and_size(rules: CopyRules, in_use: list[str], deleted: list[str]) -> None:
    copies = [copy("a", 1), copy("b", 2), copy("c", 8)]
    stated = DataInUse(1.0, frozenset(("internal", f"{name}:1") for name in in_use))
    assert [each.dataset for each in copies_to_delete(copies, "internal", stated, rules, NOW)] == [
        f"{name}:1" for name in deleted
    ]
    of_other_class = copies_to_delete(copies, "restricted", stated, CopyRules(timedelta(0)), NOW)
    assert len(of_other_class) == 3


class Controller:
    """Burst controller and mover that run beside a deletion. `states` are datasets of jobs that are submitted meanwhile."""

    def __init__(self, mover: MoverHost, *states: tuple[str, str]) -> None:
        self._mover, self._states = mover, frozenset(states)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Controller":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        moving = Mover(self._mover.config, self._mover.lines.append)
        while not self._end.wait(0.1):
            moving.cycle()
            reports = read_reports(self._mover.config.exchange)
            write_in_use(self._mover.config.exchange, DataInUse(reports.inspected, self._states))


def staged(mover: MoverHost, source: Path) -> None:
    mover.host.put(source, version="v1")
    mover.request(IN_AWS, AT_SITE)
    mover.run()
    mover.request()
    write(mover, {"a": b"a"})
    run(mover, ENDED)


@pytest.mark.long
def test_the_command_deletes_copies_and_results_at_the_site(mover: MoverHost, source: Path) -> None:
    staged(mover, source)
    words = ("gc", "--class", "internal", "--older-than", "0", "--mover", str(mover.config_file))
    listed = mover.host.data(*words, mover=False)
    assert listed.returncode == 0, listed.stderr
    for text in ("corpus:v1 in AWS", "corpus:v1 at the site", "results of acme-7 in AWS, 1 bytes to delete (--delete)"):
        assert text in listed.stdout
    assert mover.host.keys("datasets/files/") and mover.host.keys("results/")
    with Controller(mover):
        deleted = mover.host.data(*words, "--delete", "--format", "json", mover=False)
    assert deleted.returncode == 0, deleted.stdout + deleted.stderr
    assert [row["copy"] for row in json.loads(deleted.stdout)["copies"]] == [
        "corpus:v1",
        "corpus:v1",
        "results of acme-7",
    ]
    assert mover.host.keys("datasets/files/") == mover.host.keys("results") == []
    site = mover.config.folder / "internal"
    assert not (site / "corpus/v1").exists() and list((site / ".store/files").glob("*/*")) == []
    # The results at the site stay, and the dataset can be copied again.
    assert (site / "_results/ada/7/a").exists()
    mover.request(IN_AWS, AT_SITE)
    mover.run()
    assert contents(site / "corpus/v1") == contents(source)
    assert mover.report(IN_AWS).state == "present"


def test_a_copy_that_a_job_states_meanwhile_is_put_back(mover: MoverHost, source: Path) -> None:
    staged(mover, source)
    copies = cloud_copies(mover.host.operator)
    site = mover.config.folder / "internal"
    copies.append(StagedCopy("corpus:v1", 1, NOW, site / "corpus/v1"))
    keys, store = mover.host.keys("datasets/files/"), ContentStore(site / ".store")

    def in_use() -> DataInUse:
        assert "datasets/files/corpus/v1/.landbridge-dataset.json" not in mover.host.keys("datasets/files/")
        return DataInUse(time.time() + 1, frozenset({("internal", "corpus:v1")}))

    assert delete_copies(mover.host.operator, copies, "internal", store, in_use, 30.0) == []
    assert mover.host.keys("datasets/files/") == keys and contents(site / "corpus/v1") == contents(source)
    # Neither is anything deleted without an answer.
    with pytest.raises(FindingsError, match="have not answered"):
        delete_copies(mover.host.operator, copies, "internal", store, DataInUse, 0.0)
    assert mover.host.keys("datasets/files/") == keys and (site / "corpus/v1").is_dir()
    mover.request(IN_AWS, DatasetPlace("corpus:v1", "internal", "onprem"))
    mover.run()
    assert mover.report(IN_AWS).state == mover.report(AT_SITE).state == "present"
