"""Lab and state folder of tests."""

import os
from pathlib import Path

import pytest

from tests.runner import own_state


def chosen(monkeypatch: pytest.MonkeyPatch, home: Path, state: Path | None, lab: str | None) -> tuple[str, Path]:
    """Return the names of lab and state folder that tests have with these variables, also when they run tests."""
    monkeypatch.setenv("HOME", str(home))
    for name, value in (("XDG_STATE_HOME", state), ("LANDBRIDGE_LAB", lab)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, str(value))
    own_state.separate()
    first = os.environ["LANDBRIDGE_LAB"], Path(os.environ["XDG_STATE_HOME"])
    own_state.separate()
    assert first == (os.environ["LANDBRIDGE_LAB"], Path(os.environ["XDG_STATE_HOME"]))
    return first


def test_two_labs_never_share_a_state_folder_nor_two_state_folders_a_lab(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual = tmp_path / ".local/state"
    assert chosen(monkeypatch, tmp_path, None, None) == ("landbridge-tests", usual / "lb-tests")
    assert chosen(monkeypatch, tmp_path, usual, None) == ("landbridge-tests", usual / "lb-tests")
    pairs = {
        chosen(monkeypatch, tmp_path, state, lab)
        for state in (usual, tmp_path / "one", tmp_path / "two")
        for lab in (None, "landbridge-a", "landbridge-b")
    }
    assert len({folder for _, folder in pairs}) == len(pairs) == 9
    assert len({lab for lab, _ in pairs if lab.startswith("landbridge-tests")}) == 3
