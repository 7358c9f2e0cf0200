"""`landbridge new`, as people start it, and the keys that `pulumi new` reads."""

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
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("origin", ["hybrid", "regulated", "frontier", "example"])
def test_a_fork_passes_check_at_once(checkout: Path, origin: str) -> None:
    made = landbridge(
        checkout, "new", "acme", "--from", origin, "--owner", "ml@acme.example", "--gateway-address", "52.1.2.3"
    )
    assert made.returncode == 0, made.stderr
    assert "landbridge check -s acme" in made.stdout
    found = landbridge(checkout, "check", "-s", "acme")
    assert found.returncode == 0 and "gateway-example-address" not in found.stdout, (
        "its own address is no example any more"
    )
    assert f"# Forked from {origin}." in (checkout / "stacks" / "Pulumi.acme.yaml").read_text() or origin == "example"


def test_a_start_in_the_cloud_needs_no_gateway(checkout: Path) -> None:
    words = ["--owner", "founders@acme.example", "--cost-center", "0042", "--aws-cidr", "10.99.0.0/16"]
    made = landbridge(checkout, "new", "acme", "--from", "startup", *words, "--region", "us-west-2")
    assert made.returncode == 0, made.stderr
    found = landbridge(checkout, "check", "-s", "acme")
    assert found.returncode == 0 and "add-metal-later" in found.stdout + found.stderr
    body = yaml_text.load((checkout / "stacks" / "Pulumi.acme.yaml").read_text())["config"]["landbridge:environment"]
    assert body["aws"]["cidr"] == "10.99.0.0/16" and body["aws"]["services"]["zone"].startswith("usw2-")
    zones = {zone for pool in body["aws"]["pools"] for capacity in pool["capacity"] for zone in capacity["zones"]}
    assert zones == {body["aws"]["services"]["zone"]}, "nodes and services stay together"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("new", "acme", "--from", "startup", "--gateway-address", "52.1.2.3"), "no site of its own"),
        (("new", "acme", "--from", "startup", "--asn", "65200"), "leave out --asn"),
        (("new", "hybrid", "--from", "regulated"), "is there already"),
        (("new", "../acme"), "cannot name an environment"),
        (("new", "Acme"), "cannot name an environment"),
        (("new", "acme", "--from", "hybird"), 'did you mean "hybrid"'),
        (("new", "acme", "--aws-cidr", "10.60.0.1/16"), "host bits"),
        (("new", "acme", "--asn", "many"), "invalid literal"),
        (("new", "acme", "--aws-cidr", "10.20.0.0/16"), "would have errors"),
        (("new", "acme", "--asn", "64512"), "would have errors"),
        (("new", "acme", "--region", "eu-nowhere-1"), "no region"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(checkout: Path, words: tuple[str, ...], says: str) -> None:
    before = {path: path.read_text() for path in (checkout / "stacks").iterdir()}
    found = landbridge(checkout, *words)
    assert found.returncode in (1, 2) and says in found.stderr.replace("\n", " "), found.stderr
    assert {path: path.read_text() for path in (checkout / "stacks").iterdir()} == before


def test_on_a_terminal_it_asks_for_what_no_option_says(checkout: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "landbridge.cli.main", "new", "acme", "--from", "hybrid", "--asn", "65200"]
    with subprocess.Popen(command, cwd=checkout, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        # owner, cost center, region, site, VPC, gateway; nothing is the value that is there.
        os.write(ours, b"ml@acme.example\n\n\n10.30.0.0/16\n\n52.1.2.3\n")
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # the other end has gone
            pass
        assert process.wait(timeout=300) == 0, said
    os.close(ours)
    assert b"[10.20.0.0/16]" in said and b"BGP" not in said
    body = yaml_text.load((checkout / "stacks" / "Pulumi.acme.yaml").read_text())["config"]["landbridge:environment"]
    assert (body["owner"], body["cost_center"], body["link"]["onprem_asn"]) == ("ml@acme.example", "4711", 65200)
    assert body["onprem"]["nodes"][0]["address"] == "10.30.1.11" and body["link"]["gateway_address"] == "52.1.2.3"


def test_what_pulumi_has_begun_is_finished_and_keeps_its_region_and_its_salt(checkout: Path) -> None:
    file, salt = (
        checkout / "stacks" / "Pulumi.acme.yaml",
        "encryptionsalt: v1:kbVp/0zG2/M=:v1:OPxaVu6rvCJa9leM:27sIOg==",
    )
    file.write_text(f"{salt}\nconfig:\n  aws:region: us-west-2\n")
    made = landbridge(checkout, "new", "acme", "--from", "startup", "--owner", "ml@acme.example")
    assert made.returncode == 0, made.stderr
    found = yaml_text.load(file.read_text())
    assert found["config"]["aws:region"] == "us-west-2" and file.read_text().count(salt) == 1
    assert found["config"]["landbridge:environment"]["owner"] == "ml@acme.example"
    again = landbridge(checkout, "new", "acme", "--from", "startup")
    assert again.returncode == 1 and "is there already" in again.stderr.replace("\n", " ")


def test_pulumi_new_finds_a_template_whose_every_key_is_explained() -> None:
    project = yaml_text.load((ROOT / "Pulumi.yaml").read_text())
    template = project["template"]
    assert {"displayName", "description", "quickstart", "config"} <= set(template)
    assert set(template) <= {"displayName", "description", "quickstart", "important", "metadata", "config"}
    for key, about in template["config"].items():
        assert ":" in key and set(about) <= {"description", "default", "secret"} and about["description"], key
    # Pulumi's own check of a project that has another name than ours: only its own keys may have types.
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
