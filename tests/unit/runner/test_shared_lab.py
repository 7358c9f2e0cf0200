"""Lab that the tiers share: kept if it existed before the tests, else removed, also after killed tests."""

import shutil
from pathlib import Path

import pytest

from tests.runner import shared_lab


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv(shared_lab.KEPT, "")
    state = shared_lab.state()
    assert state.is_relative_to(tmp_path)
    return state


def remove() -> None:
    shutil.rmtree(shared_lab.state())


def test_a_lab_that_existed_is_kept(state: Path) -> None:
    state.mkdir(parents=True)
    with shared_lab.shared(print, remove):
        pass
    assert state.exists()


def test_a_lab_that_the_tests_made_is_removed(state: Path) -> None:
    with shared_lab.shared(print, remove):
        state.mkdir()
    assert not state.exists()
    assert not shared_lab.mark().exists()


def test_the_lab_of_killed_tests_is_removed_before_the_next_tests(state: Path) -> None:
    killed = shared_lab.shared(print, remove)
    killed.__enter__()
    (state / "half-configured").mkdir(parents=True)
    messages: list[str] = []
    with shared_lab.shared(messages.append, remove):
        assert not state.exists()
        state.mkdir()
    assert messages == ["removing the lab of tests that were killed"]
    assert not state.exists()


def test_a_lab_that_a_user_made_after_killed_tests_without_one_is_kept_the_next_time(state: Path) -> None:
    shared_lab.shared(print, remove).__enter__()
    with shared_lab.shared(print, remove):
        pass
    state.mkdir()
    with shared_lab.shared(print, remove):
        pass
    assert state.exists()


def test_a_lab_that_no_further_test_uses_is_removed_at_once_unless_it_existed(state: Path) -> None:
    with shared_lab.shared(print, remove):
        shared_lab.take_down_early(remove)
        state.mkdir(parents=True)
        shared_lab.take_down_early(remove)
        assert not state.exists()
    state.mkdir()
    with shared_lab.shared(print, remove):
        shared_lab.take_down_early(remove)
        assert state.exists()
