"""`landbridge new` as a command, and the keys that `pulumi new` reads."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from landbridge import yaml_text
from tests.unit.core.samples import ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    for path in (ROOT / "stacks").glob("Pulumi.*.yaml"):
        shutil.copy(path, tmp_path / "stacks")
    return tmp_path


def landbridge(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "landbridge.cli.main", *words]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("origin", ["hybrid", "regulated", "frontier", "example"])
def test_a_fork_has_no_errors_in_check(checkout: Path, origin: str) -> None:
    created = landbridge(
        checkout, "new", "acme", "--from", origin, "--owner", "ml@acme.example", "--gateway-address", "52.1.2.3"
    )
    assert created.returncode == 0, created.stderr
    assert "landbridge check -s acme" in created.stdout
    checked = landbridge(checkout, "check", "-s", "acme")
    assert checked.returncode == 0 and "gateway-example-address" not in checked.stdout, (
        "the gateway address is not the example address"
    )
    assert f"# Forked from {origin}." in (checkout / "stacks" / "Pulumi.acme.yaml").read_text() or origin == "example"


def test_a_fork_of_startup_needs_no_gateway(checkout: Path) -> None:
    words = ["--owner", "founders@acme.example", "--cost-center", "0042", "--aws-cidr", "10.99.0.0/16"]
    created = landbridge(checkout, "new", "acme", "--from", "startup", *words, "--region", "us-west-2")
    assert created.returncode == 0, created.stderr
    checked = landbridge(checkout, "check", "-s", "acme")
    assert checked.returncode == 0 and "add-metal-later" in checked.stdout + checked.stderr
    body = yaml_text.load((checkout / "stacks" / "Pulumi.acme.yaml").read_text())["config"]["landbridge:environment"]
    assert body["aws"]["cidr"] == "10.99.0.0/16" and body["aws"]["services"]["zone"].startswith("usw2-")
    zones = {zone for pool in body["aws"]["pools"] for capacity in pool["capacity"] for zone in capacity["zones"]}
    assert zones == {body["aws"]["services"]["zone"]}, "nodes and services stay together"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("new", "acme", "--from", "startup", "--gateway-address", "52.1.2.3"), "no on-prem site"),
        (("new", "acme", "--from", "startup", "--asn", "65200"), "omit --asn"),
        (("new", "hybrid", "--from", "regulated"), "already exists"),
        (("new", "../acme"), "is not a valid name of an environment"),
        (("new", "Acme"), "is not a valid name of an environment"),
        (("new", "acme", "--from", "hybird"), 'did you mean "hybrid"'),
        (("new", "acme", "--aws-cidr", "10.60.0.1/16"), "host bits"),
        (("new", "acme", "--asn", "many"), "invalid literal"),
        (("new", "acme", "--aws-cidr", "10.20.0.0/16"), "would have errors"),
        (("new", "acme", "--asn", "64512"), "would have errors"),
        (("new", "acme", "--region", "eu-nowhere-1"), "no region"),
    ],
)
def test_an_invalid_option_is_an_error_and_writes_nothing(checkout: Path, words: tuple[str, ...], message: str) -> None:
    before = {path: path.read_text() for path in (checkout / "stacks").iterdir()}
    completed = landbridge(checkout, *words)
    assert completed.returncode in (1, 2) and message in completed.stderr.replace("\n", " "), completed.stderr
    assert {path: path.read_text() for path in (checkout / "stacks").iterdir()} == before


def test_on_a_terminal_missing_options_are_prompted_for(checkout: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "landbridge.cli.main", "new", "acme", "--from", "hybrid", "--asn", "65200"]
    with subprocess.Popen(command, cwd=checkout, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        # owner, cost center, region, site, VPC, gateway; an empty answer keeps the value.
        os.write(ours, b"ml@acme.example\n\n\n10.30.0.0/16\n\n52.1.2.3\n")
        output = b""
        try:
            while chunk := os.read(ours, 4096):
                output += chunk
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0, output
    os.close(ours)
    assert b"[10.20.0.0/16]" in output and b"BGP" not in output
    body = yaml_text.load((checkout / "stacks" / "Pulumi.acme.yaml").read_text())["config"]["landbridge:environment"]
    assert (body["owner"], body["cost_center"], body["link"]["onprem_asn"]) == ("ml@acme.example", "4711", 65200)
    assert body["onprem"]["nodes"][0]["address"] == "10.30.1.11" and body["link"]["gateway_address"] == "52.1.2.3"


def test_a_file_that_pulumi_created_is_completed_and_keeps_its_region_and_salt(checkout: Path) -> None:
    file, salt = (
        checkout / "stacks" / "Pulumi.acme.yaml",
        "encryptionsalt: v1:kbVp/0zG2/M=:v1:OPxaVu6rvCJa9leM:27sIOg==",
    )
    file.write_text(f"{salt}\nconfig:\n  aws:region: us-west-2\n")
    created = landbridge(checkout, "new", "acme", "--from", "startup", "--owner", "ml@acme.example")
    assert created.returncode == 0, created.stderr
    data = yaml_text.load(file.read_text())
    assert data["config"]["aws:region"] == "us-west-2" and file.read_text().count(salt) == 1
    assert data["config"]["landbridge:environment"]["owner"] == "ml@acme.example"
    repeated = landbridge(checkout, "new", "acme", "--from", "startup")
    assert repeated.returncode == 1 and "already exists" in repeated.stderr.replace("\n", " ")


def test_every_key_of_the_template_for_pulumi_new_has_a_description() -> None:
    project = yaml_text.load((ROOT / "Pulumi.yaml").read_text())
    template = project["template"]
    assert {"displayName", "description", "quickstart", "config"} <= set(template)
    assert set(template) <= {"displayName", "description", "quickstart", "important", "metadata", "config"}
    for key, about in template["config"].items():
        assert ":" in key and set(about) <= {"description", "default", "secret"} and about["description"], key
    # Pulumi refuses typed keys of other namespaces in a project with another name.
    assert "config" not in project
    assert "landbridge new" in template["quickstart"]
    for name in ("main", "stackConfigDir"):
        assert (ROOT / project[name]).is_dir()


def test_no_file_has_a_word_that_pulumi_new_would_replace() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    words = ["${" + name + "}" for name in ("PROJECT", "DESCRIPTION")]
    command = [git, "grep", "-lF", *(word for text in words for word in ("-e", text))]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout == ""
