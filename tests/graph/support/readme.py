"""Commands of README's steps to a first environment, and a checkout in which a newcomer runs them in README's order."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from landbridge import yaml_text
from landbridge.environment import Environment, load_environment
from landbridge.plan.roles.hosts.roles_anywhere import roles_anywhere
from tests.graph.support.readme_values import ASSESSED, REMOVED, Edits

ROOT = Path(__file__).resolve().parents[3]
SECTION = "## Your first real environment"
#: Texts in backticks that are no commands: files, keys, options, rules, an output and a role.
TEXTS = frozenset(
    (
        "stacks/Pulumi.acme.yaml",
        "stacks/images.acme.lock",
        "examples/digits",
        "aws.account",
        "onprem.access",
        "AWS_PROFILE",
        "site_gateway",
        "changed=0",
        "image-not-locked",
        "parent-not-locked",
        "~/.local/state/landbridge/acme/secrets/anywhere",
        "--from startup",
    )
)
#: Warnings that README permits until its step 6.
LATER = {"image-not-locked", "parent-not-locked"}
_PARTS = ("landbridge", "components", "ansible", "sandbox", "examples", "docs")
_FILES = ("Pulumi.yaml", "ansible.cfg", "README.md", "Makefile")
#: Guard against a question that has no answer here.
SILENT_SECONDS = 600

Action = Callable[["Newcomer", str], None]


def commands(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number of its step and each text in backticks that is a command, in README's order."""
    section = text.split(SECTION)[1].split("\n## ")[0]
    for step in re.split(r"^(?=\d+\. )", section, flags=re.MULTILINE)[1:]:
        number, _, content = step.partition(". ")
        # The section's last paragraph is no step.
        content = content.split("\n\n")[0]
        yield from ((int(number), literal) for literal in re.findall(r"`([^`]+)`", content) if literal not in TEXTS)


@dataclass
class Newcomer:
    """Operator with a clone of the repository, an account, and an action for each of README's commands."""

    folder: Path
    #: Variables of the operator's shell, as for a program.
    variables: Mapping[str, str]
    actions: Mapping[str, Action]
    answers: Mapping[str, str]
    edits: Edits
    #: Warnings of `check` that the machine of the test causes.
    accepted: frozenset[str] = frozenset()
    ran: list[str] = field(default_factory=list)

    @property
    def file(self) -> Path:
        return self.folder / "stacks" / "Pulumi.acme.yaml"

    @property
    def environment(self) -> Environment:
        loaded = load_environment(self.file)
        assert loaded.environment is not None, loaded.findings
        return loaded.environment

    def clone(self) -> None:
        """Make the checkout, with links to the parts in which no command writes."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in _PARTS:
            (self.folder / name).symlink_to(ROOT / name)
        for name in _FILES:
            shutil.copy(ROOT / name, self.folder)
        (self.folder / ".venv").symlink_to(sys.prefix)
        shutil.copytree(ROOT / "stacks", self.folder / "stacks", ignore=shutil.ignore_patterns("__pycache__"))

    def follow(self, first: int, last: int) -> None:
        """Run the commands of these steps in README's order; one without an action is a failure."""
        for number, command in commands((self.folder / "README.md").read_text()):
            if first <= number <= last:
                assert command in self.actions, f"README's step {number} has `{command}`, which this test does not run"
                print(f"{time.strftime('%T')} {command}", file=sys.stderr, flush=True)
                self.actions[command](self, command)
                self.ran.append(command)

    def shell(self, command: str, status: int = 0) -> str:
        """Run a command without a terminal, compare its exit status, and return its output."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout[-4000:]}"
        return done.stdout

    def terminal(self, command: str, answers: Mapping[str, str], enter: bool = False) -> str:
        """Run a command on a terminal, answer its questions, and return its output. `enter`: for all other questions."""
        side, other = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environ(),
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        output = answered = ""
        try:
            while data := _read(side):
                output += data.decode(errors="replace")
                question = output.rpartition("\n")[2]
                answer = next((text for start, text in answers.items() if question.startswith(start)), None)
                if question != answered and question.endswith(": ") and (answer is not None or enter):
                    answered = question
                    os.write(side, f"{answer or ''}\n".encode())
        finally:
            os.close(side)
        # Ended by SIGHUP if it was still waiting: the terminal is closed.
        assert process.wait() == 0, f"{command}: {output[-4000:]}"
        return output

    def edit(self, edits: Edits) -> None:
        """Write values into the environment file, or remove them."""
        content = yaml_text.load(self.file.read_text())
        for path, value in edits.items():
            place = content["config"]["landbridge:environment"]
            for key in path[:-1]:
                place = place.setdefault(key, {})
            if value is REMOVED:
                place.pop(path[-1], None)
            else:
                place[path[-1]] = value
        self.file.write_text(yaml.safe_dump(content, sort_keys=False))

    def _environ(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.folder / ".venv" / "bin"), self.variables["PATH"]))
        return {**self.variables, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def _read(side: int) -> bytes:
    """Return new output; empty at its end, and for a program that has been silent too long."""
    if not select.select([side], [], [], SILENT_SECONDS)[0]:
        return b""
    try:
        return os.read(side, 65536)
    except OSError:
        # The terminal's other side is closed: all programs have ended.
        return b""


def _shell(newcomer: Newcomer, command: str) -> None:
    newcomer.shell(command)


def _target(newcomer: Newcomer, command: str) -> None:
    # What it shows is in tests/e2e/test_cluster.py and tests/e2e/test_embedded.py.
    newcomer.shell(f"{command} --dry-run")


def _programs(newcomer: Newcomer, command: str) -> None:
    assert newcomer.shell(f"{command} && command -v landbridge ansible-inventory").count("/bin/") == 2


def _assess(newcomer: Newcomer, command: str) -> None:
    newcomer.terminal(command, ASSESSED, enter=True)


def _help(newcomer: Newcomer, command: str) -> None:
    # It needs a running Slurm: tests/unit/how_to/test_adopt_a_running_slurm.py.
    newcomer.shell(f"{command} --help")


def _new(newcomer: Newcomer, command: str) -> None:
    output = newcomer.terminal(command, newcomer.answers)
    assert all(question in output for question in newcomer.answers), output
    newcomer.edit(newcomer.edits)


def _check(newcomer: Newcomer, command: str) -> None:
    output = newcomer.shell(command)
    assert "no errors" in output
    assert set(re.findall(r" warning: .* \[([a-z-]+)\]$", output, re.MULTILINE)) - newcomer.accepted == LATER, output


def _credentials(newcomer: Newcomer, command: str) -> None:
    newcomer.shell(command)
    assert roles_anywhere(newcomer.environment) is not None


def _preflight(newcomer: Newcomer, command: str) -> None:
    checked = re.search(r"in account 123456789012, us-east-1: (\d+) of (\d+) checks", newcomer.shell(command))
    assert checked and checked[1] == checked[2]


def _up(newcomer: Newcomer, command: str) -> None:
    output = newcomer.terminal(command, {"Build this?": "y"})
    assert ("up acme: " in output) and (newcomer.ran.count(command) == 0 or " update" in output), output


def _available(newcomer: Newcomer, command: str) -> None:
    assert " available " in newcomer.shell(command)


def _upgrade(newcomer: Newcomer, command: str) -> None:
    newcomer.shell(command)
    left = newcomer.shell("landbridge check -s acme")
    assert not any(rule in left for rule in LATER), left


def _outputs(newcomer: Newcomer, command: str) -> None:
    assert newcomer.shell(command).count('"outside_address"') == 2


def _graph(newcomer: Newcomer, command: str) -> None:
    output = newcomer.shell(command)
    assert all(f"--{host}" in output for host in ("ctl01", "login01", "gw01", "dgx01", "dgx02")), output


def action_table() -> dict[str, Action]:
    """Return the actions of all commands that need AWS and no host."""
    return {
        "make demo": _target,
        ". .venv/bin/activate": _programs,
        "landbridge assess": _assess,
        "landbridge new acme --from hybrid": _new,
        "landbridge adopt": _help,
        "landbridge check -s acme": _check,
        "landbridge show -s acme --expanded": _shell,
        "landbridge doctor": _shell,
        "landbridge credentials init -s acme": _credentials,
        "landbridge cost -s acme": _shell,
        "landbridge preflight -s acme": _preflight,
        "landbridge lock -s acme": _shell,
        "landbridge preview -s acme": _shell,
        "landbridge up -s acme": _up,
        "landbridge image build node -s acme": _shell,
        "landbridge image status node -s acme": _available,
        "landbridge lock --upgrade -s acme": _upgrade,
        "landbridge outputs -s acme": _outputs,
        "ansible-inventory -i stacks/Pulumi.acme.yaml --graph": _graph,
    }
