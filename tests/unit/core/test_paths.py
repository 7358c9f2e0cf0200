"""Paths of Landbridge's files."""

from pathlib import Path

import pytest

from landbridge import paths


def test_xdg_variables_set_the_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert paths.cache_dir() == tmp_path / "cache" / "landbridge"
    assert paths.cache_dir("engine") == tmp_path / "cache" / "landbridge" / "engine"
    assert paths.secrets_dir("lab") == tmp_path / "state" / "landbridge" / "lab" / "secrets"
    assert paths.state_dir("lab").stat().st_mode & 0o777 == 0o700
    assert paths.outputs_file("lab").parent == paths.state_dir("lab")


def test_relative_variables_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert paths.state_dir("lab") == tmp_path / ".local/state/landbridge/lab"
    assert paths.expand("~/x") == tmp_path / "x"
