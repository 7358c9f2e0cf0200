"""Local state of stacks when a new emulated AWS starts."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from landbridge.paths import state_dir
from sandbox.session import forget_emulated_stacks

EMULATED = {"endpoints": '[{"ec2": "http://127.114.234.1:4580"}]', "region": "us-east-1"}
REAL = {"region": "us-east-1"}
#: An endpoint of AWS, such as an interface endpoint.
OWN_ENDPOINT = {"endpoints": '[{"ec2": "https://vpce-1.ec2.us-east-1.vpce.amazonaws.com"}]'}


def state_of(providers: tuple[Mapping[str, str], ...]) -> str:
    resources = [{"type": "pulumi:providers:aws", "inputs": dict(inputs)} for inputs in providers]
    stack = {"type": "pulumi:pulumi:Stack"}
    return json.dumps({"version": 3, "checkpoint": {"latest": {"resources": [stack, *resources]}}})


@pytest.mark.parametrize(
    ("texts", "stays"),
    [
        ([state_of((EMULATED,))], False),
        ([state_of((EMULATED, EMULATED)), state_of((EMULATED,))], False),
        ([state_of((REAL,))], True),
        ([state_of((OWN_ENDPOINT,))], True),
        ([state_of((EMULATED, REAL))], True),
        ([state_of((EMULATED,)), state_of((REAL,))], True),
        ([state_of(())], True),
        (['{"version": 3, "checkpoint": {}}'], True),
        (["{"], True),
        ([], True),
    ],
)
def test_only_the_state_of_stacks_in_an_emulated_aws_is_removed(
    texts: list[str], stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = state_dir("acme") / "pulumi"
    stacks = folder / ".pulumi" / "stacks" / "landbridge"
    stacks.mkdir(parents=True)
    for number, text in enumerate(texts):
        (stacks / f"acme-{number}.json").write_text(text)
    (state_dir("acme") / "passphrase").write_text("secret")
    forget_emulated_stacks("acme")
    assert folder.exists() is stays and (state_dir("acme") / "passphrase").exists()
