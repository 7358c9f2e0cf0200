"""Command `landbridge support-bundle`: the archive of a real run, with stand-ins of the hosts' programs behind ssh."""

import json
import os
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from landbridge.ops.logs.window import log_window
from landbridge.ops.support.collect import without_processes
from landbridge.ops.support.jobs import SEPARATOR, restricted_accounts
from landbridge.ops.support.parts import PART_BYTES, BundlePart, LeftOut, bundle_of
from landbridge.ops.support.redact import MARK, Redactor
from tests.unit.core.samples import ROOT, changed, environment

SECRET, KEY = "k9-database-password", "pre-shared-0123456789"
ACCOUNTS = {
    "vision": {"users": ["alice"], "data_class": "internal"},
    "clinic": {"users": ["bob"], "data_class": "restricted"},
}
#: Answers of the programs on every host. The job of the account clinic has a name, a comment and a command.
PROGRAMS = {
    "journalctl": f'echo "ctl01 slurmdbd: StoragePass={SECRET} {KEY} job tumour-scan of /clinic/run7 started by kim@example.org"\n'
    'echo "kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=77, name=secretive, Ch 1"',
    "sacct": f"printf 'tumour-scan{SEPARATOR}cohort 9{SEPARATOR}{SEPARATOR}{SEPARATOR}sbatch --comment=cohort-9 scan.sh{SEPARATOR}/clinic/run7\\n'",
    "squeue": "true",
    "scontrol": "echo '{\"nodes\": []}'",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an environment, its secrets, and an ssh that runs the remote command here with the stand-ins."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    text = changed({("scheduler", "accounts"): ACCOUNTS, ("link",): None, ("aws", "pools"): []})
    (tmp_path / "stacks/Pulumi.test.yaml").write_text(f"# comment of the owner\n{text}")
    secrets = tmp_path / "state/landbridge/test/secrets"
    secrets.mkdir(parents=True)
    (secrets / "slurm-database").write_text(f"{SECRET}\n")
    (secrets / "link-keys.json").write_text(json.dumps([KEY]))
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, body in {**PROGRAMS, "ssh": 'while [ "$1" != -- ]; do shift; done; exec sh -c "$3"'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    return tmp_path


def bundle(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "landbridge.cli.main", "support-bundle", "-s", "test", "--output", "b.tar.gz", *words]
    variables = {
        **os.environ,
        "XDG_STATE_HOME": str(folder / "state"),
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
    }
    return subprocess.run(line, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def members(folder: Path) -> dict[str, str]:
    with tarfile.open(folder / "b.tar.gz") as archive:
        return {
            entry.name.partition("/")[2]: (archive.extractfile(entry) or sys.stdin.buffer).read().decode()
            for entry in archive
        }


def test_an_archive_has_what_support_asks_for_and_neither_secrets_nor_restricted_jobs(folder: Path) -> None:
    done = bundle(folder, "--node", "dgx01")
    assert done.returncode in (0, 1), done.stderr
    assert stat.S_IMODE((folder / "b.tar.gz").stat().st_mode) == 0o600
    parts = members(folder)
    assert {
        "manifest.json",
        "versions.json",
        "environment.yaml",
        "check.json",
        "status.json",
        "slurm/slurm.conf",
    } <= set(parts)
    assert {
        "hosts/ctl01/slurmctld.log",
        "hosts/ctl01/nodes.json",
        "hosts/dgx01/kernel.log",
        "hosts/dgx01/slurmd.log",
    } <= set(parts)
    assert parts["environment.yaml"].startswith("# comment of the owner")
    text = "\n".join(parts.values())
    for word in (SECRET, KEY, "tumour-scan", "cohort", "scan.sh", "/clinic/run7", "secretive", "kim@example.org"):
        assert word not in text, word
    assert f"job {MARK} of {MARK} started" in parts["hosts/ctl01/slurmctld.log"]
    assert "Xid (PCI:0000:1b:00): 31, pid=77" in parts["hosts/dgx01/kernel.log"]
    manifest = json.loads(parts["manifest.json"])
    assert {part["name"] for part in manifest["taken"]} == set(parts) - {"manifest.json"}
    assert next(part for part in manifest["taken"] if part["name"] == "hosts/ctl01/slurmctld.log")["removals"] >= 4


def test_logs_are_left_out_while_the_words_of_restricted_jobs_are_not_known(folder: Path) -> None:
    (folder / "bin/sacct").write_text("#!/bin/sh\necho 'slurmdbd does not answer' >&2; exit 1\n")
    done = bundle(folder, "--format", "json")
    assert done.returncode == 1, done.stderr
    assert not any(name.startswith("hosts/") for name in members(folder))
    left_out = {item["name"]: item["reason"] for item in json.loads(done.stdout)["left_out"]}
    assert "slurmdbd does not answer" in left_out["hosts/ctl01/slurmctld.log"]


def test_no_archive_is_written_while_the_values_of_secrets_are_not_known(folder: Path) -> None:
    file = folder / "stacks/Pulumi.test.yaml"
    values = {"store": "ansible-vault", "file": "secrets.yaml", "password_file": str(folder / "absent")}
    file.write_text(changed({("secrets",): values, ("link",): None, ("aws", "pools"): []}))
    (folder / "stacks/secrets.yaml").write_text("$ANSIBLE_VAULT;1.1;AES256\n00\n")
    done = bundle(folder)
    assert done.returncode == 2 and "could not be removed" in done.stderr and "Traceback" not in done.stderr
    assert not (folder / "b.tar.gz").exists()


def test_no_file_is_replaced_and_wrong_options_are_usage_errors(folder: Path) -> None:
    (folder / "b.tar.gz").write_text("another file")
    done = bundle(folder)
    assert done.returncode == 2 and (folder / "b.tar.gz").read_text() == "another file"
    for words, message in ((["--node", "dgx09"], "dgx09 is not a host"), (["--since", "soon"], "soon is not a time")):
        done = bundle(folder, *words)
        assert done.returncode == 2 and message in " ".join(done.stderr.split())


def test_a_part_is_cleaned_before_it_is_cut_and_the_bundle_has_a_limit() -> None:
    text = "x" * 30 + "\n" + f"{SECRET}\n" + "y" * (PART_BYTES - 10) + "\n"
    result = bundle_of(
        [BundlePart("a", text, "host"), BundlePart("b", "z" * 100, "host"), BundlePart("c", "short", "host")],
        [LeftOut("d", "empty")],
        Redactor(frozenset({SECRET})),
        PART_BYTES + 50,
    )
    assert [(part.name, part.removals, part.cut) for part in result.parts] == [("a", 1, True), ("c", 0, False)]
    assert SECRET[-10:].encode() not in result.parts[0].content and len(result.parts[0].content) <= PART_BYTES + 50
    assert [item.name for item in result.left_out] == ["d", "b"]


def test_accounts_with_a_regime_or_one_site_are_restricted() -> None:
    assert restricted_accounts(environment({("scheduler", "accounts"): ACCOUNTS})) == ("clinic",)


def test_names_of_processes_leave_lines_of_the_kernel_and_no_other_line() -> None:
    text = "oom-kill: task=python3,pid=9\nslurmctld: name=gpu\n"
    assert without_processes(text) == "oom-kill: task=[removed],pid=9\nslurmctld: name=gpu\n"
    window = log_window("6h")
    assert window is not None and (window.journal, window.slurm) == ("-6h", "now-6hours")
    assert log_window("6 weeks") is None
