"""Drills of Slurm's control plane: no failure of a daemon or a host of it stops a job."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from landbridge.environment import Environment
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from tests.roles.slurm import controller_pair_lab as pair
from tests.roles.slurm.control_queries import (
    accounted,
    acts,
    answers,
    ask,
    boot_time,
    reason,
    restarts,
    setting,
    token,
    written,
)
from tests.roles.slurm.controller_pair_lab import Jobs

pytestmark = [pytest.mark.lab]

#: Slurm's release and its authentication.
KINDS = [("26.05", "munge"), pytest.param(("24.11", "slurm"), marks=pytest.mark.long)]
Describe = Callable[..., Environment]


@pytest.fixture(scope="module", params=KINDS, ids=["munge", "slurm"])
def site_environment(request: pytest.FixtureRequest, folder: Path) -> Describe:
    """Return a function that creates the site's environment with these controllers and settings of slurm.conf."""
    release, auth = request.param
    return lambda *controllers, **settings: pair.site_environment(folder, release, controllers, auth=auth, **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("control")


@pytest.fixture(scope="module")
def jobs(site_environment: Describe, folder: Path) -> Iterator[Jobs]:
    """Start the cluster with one controller."""
    lab = layout("landbridge-test-control")
    cleanup.down(lab)
    try:
        whole.up(lab, pair.site())
        pair.configure(lab, site_environment("ctl01"), folder / "control.yml")
        started = Jobs(lab)
        wait_for(
            "the node in service",
            lambda: started.run("dgx01", "sinfo", "-h", "-o", "%T"),
            lambda states: "idle" in states,
            details=started.describe,
        )
        yield started
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def two(jobs: Jobs, site_environment: Describe, folder: Path) -> Jobs:
    """Add the second controller while a job runs and another is pending; assert that both jobs still exist."""
    running, waiting = jobs.running(jobs.submit(600)), jobs.submit(1, "--hold")
    changed = pair.configure(jobs.lab, site_environment("ctl01", "ctl02"), folder / "control.yml", only="control")
    assert changed["ctl01"] < 12, "an existing controller is not configured again"
    assert (jobs.state(running), jobs.state(waiting)) == ("RUNNING", "PENDING")
    jobs.run("dgx01", "scancel", str(running), str(waiting))
    return jobs


def test_a_killed_slurmctld_restarts_at_once_with_every_job(jobs: Jobs) -> None:
    running, waiting = jobs.running(jobs.submit(8)), jobs.submit(1, "--begin=now+10")
    written(jobs)
    pid = jobs.run("ctl01", "pidof", "slurmctld")
    jobs.run("ctl01", "kill", "-KILL", *pid.split())
    wait_for("the controller", lambda: answers(jobs), details=jobs.describe)
    assert jobs.run("ctl01", "pidof", "slurmctld") != pid
    jobs.completed(running, waiting)
    assert jobs.run("dgx01", "cat", f"/tmp/{running}.out") == "done\n"


@pytest.mark.long
@pytest.mark.parametrize("silent", ["stopped", "absent"])
def test_a_job_whose_launch_a_reconfiguration_has_lost_is_launched_again(jobs: Jobs, silent: str) -> None:
    """The node does not answer during the change. A stopped slurmd has the request for the Prolog, whose end reaches the new slurmctld,
    which has no launch; an absent one never gets the request.
    """
    pause, resume = {
        "stopped": ("kill -STOP $(systemctl show -p MainPID --value slurmd)", "systemctl kill --signal=CONT slurmd"),
        "absent": ("systemctl stop slurmd", "systemctl start slurmd"),
    }[silent]
    lost = jobs.submit(1, "--hold", "--no-requeue")
    jobs.run("dgx01", "sh", "-c", pause)
    try:
        jobs.run("ctl01", "scontrol", "release", str(lost))
        wait_for("the allocation", lambda: reason(jobs, lost), lambda word: word == "Prolog")
        before = boot_time(jobs)
        jobs.run("ctl01", "sh", "-c", "scontrol reconfigure >/dev/null 2>&1 &")
        wait_for("the new slurmctld", lambda: boot_time(jobs), lambda at: at not in ("", before), details=jobs.describe)
    finally:
        jobs.run("dgx01", "sh", "-c", resume)
    if silent == "stopped":
        wait_for("the Prolog's end", lambda: reason(jobs, lost), lambda word: word == "None", details=jobs.describe)
    healthy = jobs.running(jobs.submit(600))
    assert jobs.run("ctl01", "sstat", "-nPj", f"{lost}.batch", "-o", "JobID") == "", "no batch step: Slurm waits for it"
    wait_for("a second launch", lambda: restarts(jobs, lost), lambda count: count == 1, details=jobs.describe)
    jobs.completed(lost)
    assert jobs.run("dgx01", "cat", f"/tmp/{lost}.out") == "done\n"
    assert (jobs.state(healthy), restarts(jobs, healthy)) == ("RUNNING", 0)
    jobs.run("dgx01", "scancel", str(healthy))
    journal = jobs.run("ctl01", "journalctl", "--no-pager", "-o", "cat", "-u", "landbridge-lost-launches")
    assert f"job {lost} is requeued" in journal and f"job {healthy} " not in journal


def test_the_queue_moves_to_shared_storage_with_a_second_controller(two: Jobs) -> None:
    assert "control" in two.run("dgx01", "ls", "/export/slurm")
    remaining = two.run("ctl01", "ls", "/var/lib/slurm/slurmctld").split()
    assert "clustername" not in remaining and "clustername.moved" in remaining


def test_slurmctld_does_not_start_without_its_shared_storage(two: Jobs) -> None:
    shown = two.run(
        "ctl02", "systemctl", "show", "slurmctld", "-p", "RequiresMountsFor", "-p", "Asserts", "-p", "Restart"
    )
    # systemd prints the paths in its own order.
    (mounts,) = re.findall(r"^RequiresMountsFor=(.*)$", shown, re.MULTILINE)
    assert "/var/lib/slurm/shared" in mounts.split() and "Restart=on-failure" in shown
    two.run("ctl02", "systemctl", "stop", "slurmctld", "var-lib-slurm-shared.mount")
    folder = "/run/systemd/system/var-lib-slurm-shared.mount.d"
    skipped = f"mkdir -p {folder}; printf '[Unit]\\nConditionPathExists=/nowhere\\n' > {folder}/skip.conf; systemctl daemon-reload"
    two.run("ctl02", "sh", "-c", skipped)
    try:
        assert nodes.exec(two.lab, "ctl02", ["systemctl start slurmctld"]).returncode != 0
    finally:
        two.run("ctl02", "sh", "-c", f"rm -r {folder}; systemctl daemon-reload")
    two.run("ctl02", "systemctl", "start", "slurmctld")
    assert two.run("ctl02", "findmnt", "-no", "TARGET", "/var/lib/slurm/shared").strip() == "/var/lib/slurm/shared"


def test_a_changed_file_reaches_both_controllers_without_a_restart(
    two: Jobs, site_environment: Describe, folder: Path
) -> None:
    before = two.run("ctl02", "pidof", "slurmctld")
    running = two.running(two.submit(600))
    changed = pair.configure(
        two.lab,
        site_environment("ctl01", "ctl02", KillWait=71),
        folder / "control.yml",
        only="files",
    )
    assert changed == {"ctl01": 2, "ctl02": 2}, "the file, and the reconfiguration"
    assert setting(two, "KillWait") == "71 sec"
    assert two.run("ctl02", "pidof", "slurmctld") == before
    assert two.state(running) == "RUNNING"
    two.run("dgx01", "scancel", str(running))


def test_the_standby_takes_over_with_every_job_and_returns_control(two: Jobs) -> None:
    first, second = two.running(two.submit(10)), two.running(two.submit(600, "--gres=gpu:h100:2"))
    # The begin time passes while the controllers change.
    on_hold, later = two.submit(1, "--hold"), two.submit(1, "--begin=now+8")
    written(two)
    began = time.monotonic()
    nodes.power_cut(two.lab, "ctl01")
    wait_for("the standby", lambda: answers(two), details=two.describe)
    takeover_seconds = time.monotonic() - began
    print(f"takeover after {takeover_seconds:.1f} s")
    assert "in background mode" not in two.run("ctl02", "tail", "-1", "/var/log/slurm/slurmctld.log")
    assert setting(two, "KillWait") == "71 sec", "with the latest files"
    assert (two.state(second), two.state(on_hold)) == ("RUNNING", "PENDING")
    # The cluster still works: a job that began under the first controller ends, and a new one runs.
    new = two.submit(1)
    two.completed(first, new)
    nodes.boot(two.lab, "ctl01")
    wait_for("the first is back", lambda: acts(two, "ctl01"), details=two.describe)
    # Its launch can be lost: then the check of launches requeues it, some minutes later.
    two.completed(later)
    assert (two.state(second), two.state(on_hold)) == ("RUNNING", "PENDING")
    two.run("dgx01", "scancel", str(second), str(on_hold))


def test_without_the_database_jobs_continue_and_are_accounted_for_later(two: Jobs) -> None:
    # If it is on, slurmdbd exits at the first write conflict.
    assert two.run("dgx01", "mariadb", "-Ne", "select @@innodb_snapshot_isolation").strip() == "0"
    before = two.running(two.submit(6))
    two.run("dgx01", "systemctl", "kill", "--signal=KILL", "slurmdbd", "mariadb")
    two.run("dgx01", "systemctl", "stop", "slurmdbd", "mariadb")
    two.run("ctl01", "systemctl", "restart", "slurmctld")
    wait_for("the controller without accounting", lambda: answers(two), details=two.describe)
    new = two.submit(1, "--gres=gpu:h100:2")
    two.completed(before, new)
    two.run("dgx01", "systemctl", "start", "mariadb", "slurmdbd")

    def records() -> list[str]:
        done = nodes.exec(two.lab, "dgx01", [f"sacct -nXPj {before},{new} -o jobid,state,account,alloctres"])
        return sorted(done.stdout.split()) if done.returncode == 0 else [done.stderr]

    lines = wait_for(
        "accounting", records, lambda lines: [line.split("|")[1:2] for line in lines] == [["COMPLETED"]] * 2
    )
    assert [line.split("|")[2] for line in lines] == ["vision"] * 2
    assert any("gres/gpu:h100=2" in line for line in lines if line.startswith(f"{new}|"))


def test_slurmrestd_requires_a_token_and_listens_on_its_own_host_only(two: Jobs) -> None:
    number = two.submit(1, "--hold")
    bearer = token(two)
    code, content = ask(two, "slurm/v0.0.42/jobs", **bearer)
    assert code == 200 and number in [job["job_id"] for job in content["jobs"]]
    code, content = ask(two, "slurmdb/v0.0.42/associations", **bearer)
    assert code == 200 and "vision" in [association["account"] for association in content["associations"]], (
        "slurmdbd accepts the token too"
    )
    assert ask(two, "slurm/v0.0.42/jobs")[0] == 401
    assert ask(two, "slurm/v0.0.42/jobs", **{key: value[:-4] + "AAAA" for key, value in bearer.items()})[0] == 511
    connect = "import socket; socket.create_connection(('10.45.1.11', 6820), 5)"
    refused = nodes.exec(two.lab, "ctl02", [f'python3 -c "{connect}"'])
    assert "ConnectionRefusedError" in refused.stderr
    assert two.run("dgx01", "ps", "-o", "user=", "-C", "slurmrestd").split() == ["slurmrestd"]
    shown = two.run("dgx01", "systemctl", "show", "slurmrestd", "-p", "MemoryMax", "-p", "User")
    assert f"MemoryMax={1536 * 2**20}" in shown and "User=slurmrestd" in shown
    two.run("dgx01", "scancel", str(number))


def test_the_database_password_and_the_jwt_key_are_rotated_while_a_job_runs(
    two: Jobs, site_environment: Describe, folder: Path
) -> None:
    # As the cluster is configured now.
    settings = {"KillWait": 71} if setting(two, "KillWait") == "71 sec" else {}
    chosen, before = site_environment("ctl01", "ctl02", **settings), two.running(two.submit_until("/tmp/rotated"))
    old_token = token(two)
    assert ask(two, "slurm/v0.0.42/jobs", **old_token)[0] == 200
    old, new = {}, {}
    for name, playbook in (("slurm-database", "rotate_database_password"), ("slurm-jwt", "rotate_jwt_key")):
        file = folder / pair.SECRETS / name
        old[name] = file.read_text().strip()
        output = pair.rotate(two.lab, chosen, folder, playbook).text
        new[name] = file.read_text().strip()
        assert new[name] != old[name] and new[name] not in output and old[name] not in output
    wait_for("the controller", lambda: answers(two), details=two.describe)
    query = "mariadb --user=slurm --execute='select 1'"
    assert nodes.exec(two.lab, "dgx01", [f"MYSQL_PWD={new['slurm-database']} {query}"]).returncode == 0
    assert nodes.exec(two.lab, "dgx01", [f"MYSQL_PWD={old['slurm-database']} {query}"]).returncode != 0
    # slurmctld and slurmdbd have one key: a token of the old one has ended.
    assert ask(two, "slurm/v0.0.42/jobs", **old_token)[0] == 511
    new_token = token(two)
    for path in ("slurm/v0.0.42/jobs", "slurmdb/v0.0.42/associations"):
        assert ask(two, path, **new_token)[0] == 200
    after = two.submit(0)
    two.completed(after)
    assert two.state(before) == "RUNNING"
    two.run("dgx01", "touch", "/tmp/rotated")
    two.completed(before)
    assert accounted(two, before, after)
    # The roles have nothing to change after both rotations.
    changed = pair.configure(two.lab, chosen, folder / "control.yml", only="secrets")
    assert changed == {"ctl01": 0, "ctl02": 0, "dgx01": 0}


HISTORY = "sacct -nXPa -S 2020-01-01 -o jobid,user,account,state,start,end,alloctres"
ACCOUNTS = "sacctmgr -nP show accounts format=account"
USERS = "sacctmgr -nP show associations format=account,user,qos; sacctmgr -nP show users format=user,defaultaccount,adminlevel"


def test_after_the_loss_of_the_databases_host_another_one_has_accounts_and_history(
    two: Jobs, site_environment: Describe, folder: Path
) -> None:
    number = two.submit(0)
    two.completed(number)
    accounted(two, number)
    before = two.run("dgx01", "sh", "-c", HISTORY), two.run("dgx01", "sh", "-c", USERS)
    two.run("dgx01", "systemctl", "start", "landbridge-slurm-dump.service")
    assert two.run("dgx01", "systemctl", "is-active", "landbridge-slurm-dump.timer").strip() == "active"
    folder_mode = two.run(
        "dgx01", "sh", "-c", "stat -c '%U %a' /var/backups/landbridge-slurm /var/backups/landbridge-slurm/*"
    )
    assert folder_mode.split("\n")[:2] == ["root 700", "root 600"]
    # The host is lost: its slurmdbd and its database answer no longer.
    seconds = pair.restore(two.lab, site_environment("ctl01", "ctl02"), folder, "ctl02")
    print(f"restored in {seconds:.1f} s")
    two.run("dgx01", "systemctl", "stop", "slurmdbd", "mariadb")
    try:
        moved = "sed s/^AccountingStorageHost=.*/AccountingStorageHost=ctl02/ /etc/slurm/slurm.conf > /tmp/moved.conf; export SLURM_CONF=/tmp/moved.conf"
        after = two.run("ctl02", "sh", "-c", f"{moved}; {HISTORY}"), two.run("ctl02", "sh", "-c", f"{moved}; {USERS}")
    finally:
        two.run("dgx01", "systemctl", "start", "mariadb", "slurmdbd")
        two.run("ctl02", "systemctl", "stop", "slurmdbd", "landbridge-slurm-dump.timer")
    assert f"{number}|alice|vision|COMPLETED" in before[0]
    assert after == before


def test_what_was_written_at_the_other_place_returns_and_one_control_plane_runs(
    two: Jobs, site_environment: Describe, folder: Path
) -> None:
    """The way back: ctl02 has the restored database of the test before, as the control plane in AWS has."""
    chosen = site_environment("ctl01", "ctl02")
    moved = "export SLURM_CONF=/tmp/moved.conf"
    pair.fenced(two.lab, chosen, folder, "dgx01", "fenced")
    # The lost site returns: its host boots, and a configuration starts its services.
    two.run("dgx01", "systemctl", "restart", "slurmdbd")
    assert two.run("dgx01", "sh", "-c", "systemctl is-active slurmdbd; true").strip() != "active"
    two.run("ctl02", "systemctl", "start", "slurmdbd")
    two.run("ctl02", "sh", "-c", f"{moved}; until sacctmgr -i add account meanwhile; do sleep 1; done")
    written_there = two.run("ctl02", "sh", "-c", f"{moved}; {HISTORY}; {ACCOUNTS}; {USERS}")
    assert "meanwhile" in written_there
    first = pair.fenced(two.lab, chosen, folder, "ctl02", "fenced")
    assert first.changed["ctl02"] > 0
    assert pair.fenced(two.lab, chosen, folder, "ctl02", "fenced").changed["ctl02"] == 0
    two.run("ctl02", "sh", "-c", "systemctl daemon-reload; systemctl start slurmdbd")
    assert two.run("ctl02", "sh", "-c", "systemctl is-active slurmdbd; true").strip() != "active"
    pair.fenced(two.lab, chosen, folder, "dgx01", "active")
    seconds = pair.bring_back(two.lab, chosen, folder, "ctl02", "dgx01")
    print(f"way back: {', '.join(f'{name} {value:.1f} s' for name, value in seconds.items())}")
    two.run("ctl02", "systemctl", "disable", "--now", "mariadb", "slurmdbd", "landbridge-slurm-dump.timer")
    assert two.run("dgx01", "sh", "-c", f"{HISTORY}; {ACCOUNTS}; {USERS}") == written_there
    # A job of the site is accounted for in the database that returned.
    number = two.submit(0)
    two.completed(number)
    accounted(two, number)
