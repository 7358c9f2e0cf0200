"""How-to pages of racks and nodes, followed literally: commands that need no machine run; playbooks and options exist."""

import re
from pathlib import Path

import pytest

from landbridge.catalog.hardware.published import published
from landbridge.environment.file.load import load_environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.packages import SERVICE_SYSTEM
from tests.unit.how_to.pages import ROOT, run, steps, write
from tests.unit.ops.ladder_outputs import nccl, smi

FOLDER = ROOT / "docs/how-to"
PAGES = ("first-rack.md", "add-a-node.md", "replace-a-gpu.md", "accept-a-node.md")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout with an environment called acme, and with saved acceptance output of a slow node."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "stacks").mkdir()
    for name in ("ansible", "ansible.cfg"):
        (tmp_path / name).symlink_to(ROOT / name)
    first = next(step for step in steps(FOLDER / "first-rack.md") if step.file is not None)
    (tmp_path / "stacks/Pulumi.acme.yaml").write_text(first.text)
    return tmp_path


def follow(page: str, folder: Path) -> int:
    """Write a page's files and run its commands; each must succeed, and its output must start as on the page."""
    ran = 0
    for step in steps(FOLDER / page):
        if step.file is not None:
            write(step, folder)
        if step.command is not None:
            done = run(f"PYTHONPATH={ROOT} {step.command}", folder)
            assert done.returncode == (1 if "\nNOT" in step.output.replace("  ", "") else 0), done.stdout
            assert done.stdout.startswith(step.output.strip("\n")), f"{step.command}\n{done.stdout}"
            ran += 1
    return ran


def test_the_first_rack(folder: Path) -> None:
    assert follow("first-rack.md", folder) == 2
    assert "error" not in run(f"PYTHONPATH={ROOT} landbridge check -s rack", folder).stdout.replace("no errors", "")


def test_the_first_rack_installs_the_slurm_that_the_page_before_builds(folder: Path) -> None:
    command = re.search(r"landbridge packages slurm (\S+) .*", (FOLDER / "build-slurm-packages.md").read_text())
    assert command is not None
    built = set(re.findall(r"--system (\S+)", command[0]))
    rack = load_environment(folder / "stacks/Pulumi.acme.yaml").environment
    assert rack is not None
    systems = {published().packages_of(group.os) for group in rack.node_groups} | {SERVICE_SYSTEM}
    assert (rack.scheduler.slurm.version, systems) == (command[1], built)
    variables = inventory(rack)["_meta"]["hostvars"]
    assert {variables[host]["slurm_common_release"] for host in ("dgx01", "smc01")} == {"noble"}


def test_a_node_is_added(folder: Path) -> None:
    assert follow("add-a-node.md", folder) == 3
    assert "dgx[01-05]" in (folder / "stacks/Pulumi.acme.yaml").read_text()


def test_a_node_is_accepted_or_not(folder: Path) -> None:
    run(f"PYTHONPATH={ROOT} landbridge node add dgx05 --write -s acme", folder)
    outputs = folder / "accepted/dgx05"
    outputs.mkdir(parents=True)
    (outputs / "driver.dgx05.out").write_text(smi())
    measured = {2**28: 380.0, 2**30: 430.0, 2**33: 331.0, 2**34: 332.0}
    (outputs / "nccl-node.dgx05.out").write_text(nccl(["dgx05"], measured))
    assert follow("accept-a-node.md", folder) == 1


@pytest.mark.parametrize("page", PAGES)
def test_playbooks_variables_and_options_exist(page: str) -> None:
    text = (FOLDER / page).read_text()
    for playbook in re.findall(r"ansible/playbooks/\S+\.yml", text):
        assert (ROOT / playbook).is_file(), playbook
    used = "".join(path.read_text() for path in (ROOT / "ansible/playbooks").rglob("*.yml"))
    assert all(re.search(rf"\b{name}\b", used) for name in re.findall(r"-e (\w+)=", text))
    for command, options in re.findall(r"landbridge ((?:node )?[a-z]+)([^\n`]*)", text):
        required = set(re.findall(r"(--[a-z-]+)", options)) - {"--check"}
        if required and command.split()[0] in ("node", "validate", "configure"):
            shown = run(f"PYTHONPATH={ROOT} landbridge {command} --help", ROOT).stdout
            assert all(option in shown for option in required), (command, required)


def test_they_are_found_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text()
    assert all(f"how-to/{page}" in index for page in PAGES)
