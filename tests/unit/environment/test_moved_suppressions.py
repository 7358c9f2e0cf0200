"""Suppressions follow the list items that they name when a command removes or divides items of an environment file."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from landbridge.cli.main import build
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.members import without_nodes
from landbridge.environment.file.source import read
from landbridge.environment.file.users import without_users
from landbridge.findings import FindingsError
from tests.unit.core.samples import ROOT as ROOT_FOLDER

HEAD = "config:\n  landbridge:environment:\n"
USERS = (
    "    users: [{name: al}, {name: bob}, {name: cy}, {name: di}]\n    scheduler: {accounts: {a: {users: [bob, cy]}}}\n"
)
NODES = "    onprem:\n      nodes:\n      - {hosts: 'dgx[1-3]', platform: dgx-h100, address: 10.0.0.1}\n      - {hosts: smc1, platform: dgx-h100, address: 10.0.0.9}\n"


def suppressions(text: str) -> list[Any]:
    """Return the paths of the suppressions."""
    data = read(text, "f").data
    for key in ROOT:
        data = data[key]
    return [entry.get("path") for entry in data["suppress"]]


def without(kind: str, text: str, *names: str) -> tuple[str, list[str]]:
    """Return the file's text without these users or nodes, and the messages."""
    after, findings = (without_users if kind == "users" else without_nodes)(text, "f", names)
    return after, [finding.message for finding in findings]


@pytest.mark.parametrize(
    ("kind", "names", "before", "after"),
    [
        ("users", ["bob"], ["users[0]", "users[1]", "users[2].uid", "users[3]"], ["users[0]", "users[1].uid", "users[2]"]),
        ("users", ["al", "cy"], ["users[3]", "users[1]", "users[0].name", "users[2]"], ["users[1]", "users[0]"]),
        ("users", ["bob"], ["users", None, "onprem.users[2]", "scheduler.accounts.a.users[1]", "users[22]"], ["users", None, "onprem.users[2]", "scheduler.accounts.a.users[0]", "users[22]"]),
        ("users", ["bob"], ["scheduler.accounts.a.users[0]", "users[1].uid"], []),
        # A group of nodes that ends, one that becomes two, and one that becomes smaller.
        ("nodes", ["smc1"], ["onprem.nodes[0]", "onprem.nodes[1]"], ["onprem.nodes[0]"]),
        ("nodes", ["dgx2"], ["onprem.nodes[0].hosts", "onprem.nodes[1]"], ["onprem.nodes[0].hosts", "onprem.nodes[1].hosts", "onprem.nodes[2]"]),
        ("nodes", ["dgx3"], ["onprem.nodes[0]", "onprem.nodes[1]"], ["onprem.nodes[0]", "onprem.nodes[1]"]),
        ("nodes", ["dgx1", "dgx2", "dgx3"], ["onprem.nodes[1]", "onprem.nodes[0]"], ["onprem.nodes[0]"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("layout", ["block", "mapping", "flow"])
def test_a_suppression_follows_its_item(
    kind: str, names: list[str], before: list[str | None], after: list[str | None], layout: str
) -> None:
    entries = []
    for path in before:
        at = f'path: "{path}"'
        if layout == "block":
            rest = f"\n        path: {path}  # where" if path else ""
            entries.append(f"      # above\n      - rule: a-rule{rest}\n        reason: is known\n")
        else:
            entries.append(f"{{rule: a-rule, {f'{at}, ' if path else ''}reason: is known}}")
    if layout == "flow":
        suppress = f"    suppress: [{', '.join(entries)}]\n"
    elif layout == "mapping":
        suppress = "    suppress:\n" + "".join(f"      - {entry}  # of it\n" for entry in entries)
    else:
        suppress = "    suppress:\n" + "".join(entries)
    lists = USERS if kind == "users" else NODES
    for text in (HEAD + suppress + lists, HEAD + lists + suppress):
        changed_text, messages = without(kind, text, *names)
        assert suppressions(changed_text) == after
        assert bool(messages) == (before != after)
        windows, _ = without(kind, text.replace("\n", "\r\n"), *names)
        assert windows == changed_text.replace("\n", "\r\n")


def test_the_command_says_what_happened_to_the_suppressions() -> None:
    text = HEAD + USERS + "    suppress:\n" + "".join(
        f"      - {{rule: a-rule, path: 'users[{index}]', reason: bob is known}}\n" for index in range(4)
    )  # fmt: skip
    _, messages = without("users", text, "bob")
    assert messages == [
        "suppress[0].reason still names bob",
        "the suppression of a-rule at users[1] is removed: its item leaves the file",
        "the suppression of a-rule at users[2] is now at users[1]",
        "suppress[2].reason still names bob",
        "the suppression of a-rule at users[3] is now at users[2]",
        "suppress[3].reason still names bob",
    ]
    divided, messages = without("nodes", HEAD + NODES + "    suppress: [{rule: r, path: 'onprem.nodes[0]'}]\n", "dgx2")
    assert messages == ["the suppression of r at onprem.nodes[0] is now at onprem.nodes[0] and onprem.nodes[1]"]
    assert "{rule: r, path: 'onprem.nodes[0]'}, {rule: r, path: 'onprem.nodes[1]'}" in divided


def test_a_suppression_that_cannot_be_changed_refuses_the_change() -> None:
    text = HEAD + USERS.replace("{name: al}", "{name: &p 'users[2]'}") + "    suppress: [{rule: r, path: *p}]\n"
    with pytest.raises(FindingsError) as error:
        without("users", text, "bob")
    (finding,) = error.value.findings
    assert (finding.rule, finding.line) == ("edit-layout", text.count("\n"))


def test_a_reason_of_several_lines_leaves_with_its_suppression() -> None:
    entry = "      - rule: a-rule\n        path: users[{}]\n        reason: >-\n          one\n          two\n"
    text = HEAD + "    suppress:\n" + entry.format(1) + entry.format(2) + USERS
    after, _ = without("users", text, "bob")
    assert after.startswith(HEAD + "    suppress:\n" + entry.format(1) + "    users:")


def test_commands_print_and_write_the_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "Pulumi.acme.yaml"
    example = (ROOT_FOLDER / "stacks/Pulumi.example.yaml").read_text()
    listed = "".join(
        f"      - {{rule: live-quota, path: '{place}', reason: this is known and accepted}}\n"
        for place in ("users[1]", "users[2]", "onprem.nodes[0]", "onprem.nodes[1]")
    )
    path.write_text(f"{example.rstrip()}\n    suppress:\n{listed}")
    left = CliRunner().invoke(build(), ["user", "remove", "bob", "-f", str(path)])
    assert left.exit_code == 0 and "[suppression-removed]" in left.stderr and "is now at users[1]" in left.stderr
    assert suppressions(path.read_text()) == ["users[1]", "onprem.nodes[0]", "onprem.nodes[1]"]
    divided = CliRunner().invoke(build(), ["node", "remove", "dgx02", "-f", str(path)])
    assert divided.exit_code == 0, divided.output
    assert "at onprem.nodes[0] is now at onprem.nodes[0] and onprem.nodes[1]" in divided.stderr
    assert "+      - {rule: live-quota, path: 'onprem.nodes[2]'" in divided.stdout
