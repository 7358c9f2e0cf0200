"""Users removed from an environment file: only their text changes, comments and layout stay."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from landbridge.environment import Environment
from landbridge.environment.base import UserName
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.source import read
from landbridge.environment.file.users import LISTS, RIGHTS, without_users
from landbridge.findings import DataPath, FindingsError
from tests.unit.core.samples import SHIPPED, changed

HEAD = "config:\n  landbridge:environment:\n"
TEAM: dict[Any, Any] = {
    ("users", 2): {"name": "bo", "uid": 20003},
    ("scheduler", "accounts", "vision", "users"): ["alice", "bob", "bo"],
    ("mlops", "teams"): {"a1": {"accounts": ["vision"], "models": {"digits": {"may_promote": ["bob", "alice"]}}}},
}


def remove(text: str, *names: str) -> str:
    return without_users(text, "Pulumi.acme.yaml", names)[0]


def refusals(text: str, *names: str) -> list[tuple[str, int | None]]:
    with pytest.raises(FindingsError) as error:
        remove(text, *names)
    return [(finding.rule, finding.line) for finding in error.value.findings]


def without(data: Any, names: set[str]) -> Any:
    """Return the data without these users, which are texts in lists or mappings with their name."""
    if isinstance(data, dict):
        return {key: without(value, names) for key, value in data.items()}
    if isinstance(data, list):
        others = (item for item in data if (item.get("name") if isinstance(item, dict) else item) not in names)
        return [without(item, names) for item in others]
    return data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # A dash each, in flow and in block style; the comment of the person goes, and others stay.
        (
            "    users:  # people\n      # first\n      - {name: bob, uid: 1}  # until June\n      # second\n      - {name: al, uid: 2}  # al\n",
            "    users:  # people\n      # first\n      # second\n      - {name: al, uid: 2}  # al\n",
        ),
        (
            "    users:\n    - name: 'bob'\n      # inside\n      uid: 1\n    - uid: 2\n      name: al\n    owner: a\n",
            "    users:\n    - uid: 2\n      name: al\n    owner: a\n",
        ),
        ("    users:\n      - {name: bob,\n         uid: 1\n        }\n      - {name: al, uid: 2}\n", "    users:\n      - {name: al, uid: 2}\n"),
        # The last item of a block.
        ("    users:  # people\n      # one\n      - {name: bob, uid: 1}\n", "    users: []  # people\n      # one\n"),
        ('    "users": &all\n      - {name: bob, uid: 1}', '    "users": &all []\n'),
        # Flow style: first, middle, last and only one; several lines, with and without a comma at the end.
        ("    users: [{name: bob, uid: 1}, {name: al, uid: 2}]\n", "    users: [{name: al, uid: 2}]\n"),
        ("    users: [ {name: al, uid: 2} , {name: bob, uid: 1} ]\n", "    users: [ {name: al, uid: 2}  ]\n"),
        ("    users: [{name: bob, uid: 1}]  # people\n", "    users: []  # people\n"),
        (
            "    users: [\n      {name: al, uid: 2},  # al\n      {name: bob, uid: 1},  # bob\n      {name: bobby, uid: 3},\n    ]\n",
            "    users: [\n      {name: al, uid: 2},  # al\n      {name: bobby, uid: 3},\n    ]\n",
        ),
        (
            "    users: [\n      {name: al, uid: 2},  # al\n      {name: bob, uid: 1}  # bob\n    ]\n",
            "    users: [\n      {name: al, uid: 2},  # al\n    ]\n",
        ),
        ('    "users": [\n     {"name": "al"},\n     {\n      "name": "bob"\n     }\n    ]\n', '    "users": [\n     {"name": "al"}\n    ]\n'),
        ("    users: [{name: bob},  # bob\n      {name: al},  # al\n      {name: cy}]\n", "    users: [  # bob\n      {name: al},  # al\n      {name: cy}]\n"),
        # A name that begins with the other one, or ends with it; quotes of both kinds.
        ("    scheduler: {accounts: {a: {users: [bob2, 'bob', xbob, \"bob\", bob.b]}}}\n", "    scheduler: {accounts: {a: {users: [bob2, xbob, bob.b]}}}\n"),
        # An anchor that another account uses, and one that is merged.
        (
            "    scheduler:\n      accounts:\n        a: {users: &team [al, bob]}\n        b: {users: *team}\n",
            "    scheduler:\n      accounts:\n        a: {users: &team [al]}\n        b: {users: *team}\n",
        ),
        (
            "    scheduler:\n      accounts:\n        a: &a\n          users:\n            - bob\n            - al\n        b: {<<: *a, fairshare: 2}\n",
            "    scheduler:\n      accounts:\n        a: &a\n          users:\n            - al\n        b: {<<: *a, fairshare: 2}\n",
        ),
    ],
)  # fmt: skip
def test_a_person_is_removed_in_every_layout(before: str, after: str) -> None:
    assert remove(HEAD + before, "bob") == HEAD + after
    assert remove((HEAD + before).replace("\n", "\r\n"), "bob") == (HEAD + after).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        # All findings at once.
        (changed(TEAM), ("zed", "bob", "ali"), ["user-unknown", "user-unknown"]),
        (changed({**TEAM, ("hosts", "ssh", "nodes_without_job"): ["bob"]}), ("bob", "zed"), ["user-rights", "user-unknown"]),
        (changed(TEAM), ("bob", "alice"), ["user-last"]),
        (changed({("onprem", "access"): {"user": "bob"}}), ("bob",), ["user-rights"]),
        (changed({("onprem", "access"): {"proxy_command": "ssh -W %h:%p bob@jump"}}), ("bob",), ["user-rights"]),
        (changed({("serving", "aws", "public_keys"): [f"ssh-rsa {'A/bob/' * 20}== x@y", "ssh-rsa AAAA bob@x"]}), ("bob",), ["user-rights"]),
        # An item with an alias elsewhere, a key that is no word, and a file that is not YAML.
        (f"{HEAD}    scheduler: {{accounts: {{a: {{users: [&b bob]}}, b: {{users: [*b]}}}}}}\n", ("bob",), ["edit-layout"]),
        (f"{HEAD}    ? users\n    :\n      - {{name: bob, uid: 1}}\n", ("bob",), ["edit-layout"]),
        (f"{HEAD}    users: [bob\n", ("bob",), ["bad-yaml"]),
        (f"{HEAD}    users: {{bob: 1}}\n", ("bob",), ["user-unknown"]),
        ("- bob\n", ("bob",), ["user-unknown"]),
    ],
)  # fmt: skip
def test_a_refusal_has_all_findings_with_their_places(text: str, names: tuple[str, ...], expected: list[str]) -> None:
    rules = refusals(text, *names)
    assert sorted(rule for rule, _ in rules) == expected
    assert all(line for _, line in rules)


def test_other_texts_that_name_the_person_are_warnings() -> None:
    words: dict[DataPath, Any] = {
        ("owner",): "bob@example.org",
        ("cost_center",): "bobby",
        ("users", 2): {"name": "bobby", "uid": 3},
        ("scheduler", "accounts", "vision", "description"): "led by bob.",
    }
    _, findings = without_users(changed(words), "Pulumi.acme.yaml", ("bob",))
    assert [(finding.rule, finding.severity, finding.path[2:]) for finding in findings] == [
        ("user-named", "warning", ("owner",)),
        ("user-named", "warning", ("scheduler", "accounts", "vision", "description")),
    ]


def paths_of_names(kind: Any, path: DataPath = ROOT) -> set[DataPath]:
    """Return the paths of all keys and values of a type that have the spelling of a user's name."""
    if kind == UserName:
        return {path}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        hints = get_type_hints(kind, include_extras=True)
        return {inner for name in kind.model_fields for inner in paths_of_names(hints[name], (*path, name))}
    below = (*path, "*") if get_origin(kind) is Mapping else path
    return {inner for value in get_args(kind) for inner in paths_of_names(value, below)}


def test_each_key_that_names_users_is_known() -> None:
    """A new key with users is one from which a person has to be removed, or that refuses the removal."""
    of_slurm = {"accounts", "parent", "qos", "preempts"}
    known = {path for path in paths_of_names(Environment) if not of_slurm & set(path[-2:])}
    assert known == {(*LISTS[0], "name"), *LISTS[1:], *RIGHTS[:2]}


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_each_person_can_leave_every_shipped_environment(path: Path) -> None:
    text = path.read_text()
    data = read(text, path.name).data
    for user in data["config"]["landbridge:environment"]["users"]:
        after = remove(text, user["name"])
        assert read(after, path.name).data == without(data, {user["name"]})
        assert [line for line in after.splitlines() if "#" in line] == [
            line for line in text.splitlines() if "#" in line
        ]


def listed(draw: st.DrawFn, key: str, indent: str, items: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a list in a drawn layout."""
    layout = draw(st.sampled_from(["dashes", "line", "rows"]))
    if layout == "dashes" and items:
        yield f"{indent}{key}:  # of the list"
        for item in items:
            yield f"{indent}  # above"
            yield f"{indent}  -  {item}{draw(st.sampled_from(['', ' # of it']))}"
    elif layout == "rows":
        yield f"{indent}{key}: [  # of the list"
        for item in items:
            comma = "," if item is not items[-1] else draw(st.sampled_from(["", ","]))
            yield f"{indent}  {item}{comma}{draw(st.sampled_from(['', ' # of it']))}"
        yield f"{indent}]"
    else:
        yield f"{indent}{key}: [{draw(st.sampled_from([', ', ',', ' , '])).join(items)}]  # of the list"


@st.composite
def files(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Return an environment file with users in drawn layouts, and the users; many names are a part of another one."""
    names = draw(st.lists(st.from_regex(r"[a-c_][ab.-]{0,2}", fullmatch=True), min_size=1, max_size=5, unique=True))
    word = st.sampled_from(["{}", '"{}"', "'{}'"])
    entry = st.sampled_from(["{{name: {}, uid: {}}}", "{{ uid: {1}, name: {0} }}"])
    users = [draw(entry).format(draw(word).format(name), 1000 + uid) for uid, name in enumerate(names)]
    lines = [*HEAD.splitlines(), *listed(draw, "users", "    ", users), "    scheduler:", "      accounts:"]
    for account in ("x", "y"):
        members = draw(st.lists(st.sampled_from(names), unique=True))
        lines += [f"        {account}:", *listed(draw, "users", "          ", [draw(word).format(n) for n in members])]
    return "".join(f"{line}\n" for line in lines), names


@given(files(), st.data(), st.sampled_from(["\n", "\r\n"]))
def test_the_rest_of_the_file_stays(file: tuple[str, list[str]], data: st.DataObject, newline: str) -> None:
    text, names = file[0].replace("\n", newline), file[1]
    leaving = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    after = remove(text, *leaving)
    assert read(after, "f").data == without(read(text, "f").data, set(leaving))
    assert [after.count(f"# {words}") for words in ("of the list", "above")] == [
        text.count(f"# {words}") for words in ("of the list", "above")
    ]
    assert after.count("\n") == after.count(newline) and ("\r" in after) == ("\r" in text)
    assert {rule for rule, _ in refusals(after, *leaving)} == {"user-unknown"}


def test_a_person_leaves_all_lists_and_nothing_else_is_named() -> None:
    after, findings = without_users(changed(TEAM), "Pulumi.acme.yaml", ("bob",))
    assert findings == () and "bob" not in after and '"bo"' in after
