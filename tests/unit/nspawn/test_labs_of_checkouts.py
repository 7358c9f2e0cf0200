"""Names, addresses and environment files of labs: two checkouts, and two state folders, never share one."""

from pathlib import Path

import pytest

from landbridge.environment import load_environment
from sandbox.nspawn import layout as layouts
from sandbox.nspawn.from_environment import of_lab
from sandbox.nspawn.layout import layout

SANDBOX = Path(__file__).resolve().parents[3] / "stacks/Pulumi.sandbox.yaml"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("LANDBRIDGE_LAB", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return tmp_path


def start(name: str | None = None) -> None:
    """Leave what `landbridge sandbox up` leaves: the lab's folder with the path of its checkout."""
    lab = layout(name)
    lab.state.mkdir(parents=True)
    lab.owner.write_text(str(layouts.CHECKOUT))


def test_the_first_checkout_has_the_default_lab_and_another_one_has_its_own(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = home / "first", home / "second"
    for checkout in (first, second):
        checkout.mkdir()
    monkeypatch.setattr(layouts, "CHECKOUT", first)
    assert layout().name == "landbridge"
    start()
    assert layout().name == "landbridge"
    monkeypatch.setattr(layouts, "CHECKOUT", second)
    second_lab = layout()
    assert second_lab.name != "landbridge" and second_lab.operator_address != "127.0.0.1"
    start()
    # It keeps its lab after the first one has ended.
    (home / ".local/state/landbridge/lab/checkout").unlink()
    assert layout() == second_lab


def test_the_lab_of_a_removed_checkout_is_taken_over(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "CHECKOUT", home / "removed")
    start()
    monkeypatch.setattr(layouts, "CHECKOUT", home)
    assert layout().name == "landbridge"


def test_another_state_folder_is_another_lab(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {layout().name}
    for folder in ("one", "two"):
        monkeypatch.setenv("XDG_STATE_HOME", str(home / folder))
        names.add(layout().name)
    assert len(names) == 3


@pytest.mark.parametrize(
    ("lab", "state", "name"),
    [
        ("landbridge", "", "sandbox"),
        ("landbridge", "elsewhere", "sandbox"),
        ("landbridge-other", "", "sandbox-other"),
        ("landbridge-other", "elsewhere", "sandbox"),
    ],
)
def test_the_environment_of_a_lab_has_its_key_namespace_and_address(
    home: Path, monkeypatch: pytest.MonkeyPatch, lab: str, state: str, name: str
) -> None:
    if state:
        monkeypatch.setenv("XDG_STATE_HOME", str(home / state))
    monkeypatch.setattr("sandbox.nspawn.from_environment.CHECKOUT", SANDBOX.parents[1])
    chosen = layout(lab)
    path = of_lab(SANDBOX, chosen)
    environment = load_environment(path).environment
    assert environment is not None and environment.onprem is not None and environment.name == name
    assert (path == SANDBOX) == (lab == "landbridge" and not state)
    access = environment.onprem.access
    assert access is not None and Path(str(access.private_key)).expanduser() == chosen.private_key
    assert f"/run/netns/{chosen.netns} " in str(access.proxy_command)
    assert str(environment.aws.endpoints.operator).rstrip("/") == f"http://{chosen.operator_address}:4580"


def test_two_labs_of_one_state_folder_have_environments_of_two_names(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "elsewhere"))
    # A stack keeps the address of the emulated AWS that it was created in.
    names = [of_lab(SANDBOX, layout(lab)).name for lab in ("landbridge-a", "landbridge-b", "landbridge-a")]
    assert names == ["Pulumi.sandbox.yaml", "Pulumi.sandbox-b.yaml", "Pulumi.sandbox.yaml"]
