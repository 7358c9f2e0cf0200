"""Slurm's files with real daemons of both releases; auth/slurm: keys, GPUs, and hosts with several roles."""

import errno
import json
import re
import shlex
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from landbridge import hostlist
from landbridge.plan.slurm.partitions import seconds
from sandbox.demo.cluster import wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.ansible_run import ROOT
from tests.roles.slurm.auth_slurm_lab import PLAYBOOK, SITE, START, Site
from tests.unit.slurm_files import conf
from tests.unit.slurm_files.golden import NAMES, folder

pytestmark = [pytest.mark.lab]

VERSIONS = {"26.05": "ctl01", "24.11": "old01"}
NODES = {"26.05": "dgx01", "24.11": "old01"}
ROTATE = ROOT / "ansible/playbooks/rotate_slurm_key.yml"
#: The lab's slurmctld has no database, and does not start with these settings without one.
WITHOUT_DATABASE = (
    "AccountingStorageType",
    "AccountingStorageHost",
    "AccountingStorageTRES",
    "AccountingStorageEnforce",
)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Site]]:
    lab, folder_ = layout("landbridge-test-conf"), tmp_path_factory.mktemp("keyed")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        (folder_ / "site.yml").write_text(PLAYBOOK)
        created = {version: Site(lab, folder_ / version, version) for version in VERSIONS}
        with ThreadPoolExecutor() as both:
            list(both.map(lambda site: site.play(folder_ / "site.yml"), created.values()))
            for created_site in created.values():
                for host in {VERSIONS[created_site.version], NODES[created_site.version]}:
                    created_site.run(host, "id alice >/dev/null 2>&1 || useradd --uid 20001 --create-home alice")
            # Other examples need munge, which a host with auth/slurm does not have.
            list(
                both.map(
                    lambda site: site.run(
                        VERSIONS[site.version], "apt-get -q install -y munge && systemctl start munge"
                    ),
                    created.values(),
                )
            )
        for version, site in created.items():
            wait_for(f"{version} in service", partial(node_state, site), lambda state: state == "idle")
        yield created
    finally:
        cleanup.down(lab)


@pytest.fixture(params=VERSIONS)
def site(request: pytest.FixtureRequest, sites: dict[str, Site]) -> Site:
    return sites[request.param]


def node_state(site: Site) -> str:
    return ask(site, f"sinfo -h -n {NODES[site.version]} -p onprem -o %T")


def ask(site: Site, command: str, user: str = "root", timeout: float = 300) -> str:
    return site.run(VERSIONS[site.version], f"cd /tmp; runuser -u {user} -- {command}", timeout)


def started(site: Site, name: str) -> dict[str, Any]:
    """Start slurmctld with these files; return the files, its log and its output of scontrol."""
    files = {path.name: path.read_text() for path in folder(name, site.version).iterdir()}
    lines = files["slurm.conf"].splitlines()
    files["slurm.conf"] = "\n".join(line for line in lines if line.partition("=")[0] not in WITHOUT_DATABASE) + "\n"
    host, _, address = conf.settings(files["slurm.conf"])["SlurmctldHost"].rstrip(")").partition("(")
    start_input = shlex.quote(json.dumps([host, address, files]))
    command = f"printf %s {start_input} | unshare --net --uts --mount --pid --fork --kill-child python3 -c {shlex.quote(START)}"
    report = json.loads(site.run(VERSIONS[site.version], command))
    return {"files": files, **report}


#: Errors of every first start without a database.
EXPECTED = (
    "state file",
    "state save file",
    "SlurmDBD",
    "Job accounting information",
    "pidfile",
    "MailProg",
    "collecting accounting",
    "High latency for 1000 calls to gettimeofday",  # a busy machine, not a setting
)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_slurmctld_reads_every_setting_of_every_golden_file(site: Site, name: str) -> None:
    report = started(site, name)
    text, log = report["files"]["slurm.conf"], report["log"]
    assert "Running as primary controller" in log, log
    errors = [line for line in log.splitlines() if "error" in line.lower() or "fatal" in line.lower()]
    assert [line for line in errors if not any(words in line for words in EXPECTED)] == [], log
    shown = {
        key.strip().casefold(): value.strip()
        for key, _, value in (line.partition("=") for line in report["config"].splitlines())
    }
    for key, value in conf.settings(text).items():
        # slurmctld numbers the hosts, and never shows `cloud` of PrivateData (powered-down nodes are listed below).
        if key not in ("SlurmctldHost", "PrivateData"):
            # Settings that may occur more than once are shown as a list.
            reported = shown.get(key.casefold(), shown.get(f"{key.casefold()}[0]", ""))
            assert same(value, reported), f"{key}: {value} is {reported}"
    nodes = {node["name"]: node for node in json.loads(report["nodes --json"])["nodes"]}
    expected = conf.objects(text, "NodeName")
    assert set(nodes) == set(expected)
    for host, line in expected.items():
        node = nodes[host]
        assert (node["sockets"], node["cores"], node["threads"]) == tuple(
            int(line[key]) for key in ("Sockets", "CoresPerSocket", "ThreadsPerCore")
        )
        assert (node["real_memory"], node["specialized_cores"], node["specialized_memory"]) == tuple(
            int(line.get(key, 0)) for key in ("RealMemory", "CoreSpecCount", "MemSpecLimit")
        )
        assert (node["gres"].partition("(")[0], node["weight"]) == (line.get("Gres", ""), int(line["Weight"]))
        assert set(node["features"]) == set(line["Feature"].split(","))
        assert ("CLOUD" in node["state"]) == (line["State"] == "CLOUD")
    partitions = {partition["name"]: partition for partition in json.loads(report["partitions --json"])["partitions"]}
    for partition_name, line in conf.objects(text, "PartitionName").items():
        assert set(hostlist.expand(partitions[partition_name]["nodes"]["configured"])) == set(
            hostlist.expand(line["Nodes"])
        )
    assert set(partitions) == set(conf.objects(text, "PartitionName"))


def same(value: str, reported: str) -> bool:
    """Return whether slurmctld reports the file's value, in its own units and order."""
    if re.fullmatch(r"(\d+-)?[\d:]+", value) and re.fullmatch(r"(\d+-)?\d+:\d\d:\d\d", reported):
        return seconds(value) == seconds(reported)
    reported = reported.replace("(null)", "none" if value == "none" else "")
    words = reported.split()
    parts = {part.casefold() for part in value.split(",")}
    return (
        value.casefold() in {reported.casefold(), *(word.partition("(")[0].casefold() for word in words)}
        or parts <= {part.casefold() for part in reported.split(",")}
        or (
            value in ("yes", "no", "0", "1")
            and reported.casefold() in {"yes": ("yes", "1"), "1": ("yes", "1")}.get(value, ("no", "0"))
        )
    )


OPEN_GPUS = """
import os, json
errors = {}
for number in range(8):
    try:
        os.close(os.open(f"/dev/nvidia{number}", os.O_RDONLY))
        errors[number] = 0
    except OSError as error:
        errors[number] = error.errno
print(json.dumps([os.environ["CUDA_VISIBLE_DEVICES"], errors]))
"""


def test_a_job_sees_its_gpus_and_no_other_under_auth_slurm(site: Site) -> None:
    assert "auth/slurm" in ask(site, "scontrol show config")
    command = shlex.quote(f"python3 -c {shlex.quote(OPEN_GPUS)}")
    visible, errors = json.loads(
        ask(site, f"srun -Q -p onprem --mem=100 -t1 --gres=gpu:h100:2 sh -c {command}", "alice")
    )
    # The lab's device files have no driver (ENXIO); another job's are denied (EPERM).
    assert sorted(errors.values()) == [errno.EPERM] * 6 + [errno.ENXIO] * 2
    assert len(visible.split(",")) == 2


def test_jobs_without_a_gpu_cannot_use_the_cores_of_gpus(site: Site) -> None:
    shown = ask(site, f"scontrol show node {NODES[site.version]}")
    assert "CPUEfctv=220 " in shown and "CoreSpecCount=2 CPUSpecList=110-111,222-223 MemSpecLimit=16384" in shown
    assert "RestrictedCoresPerGPU=13(0-51,56-107)" in shown
    # A job without a GPU gets only the other cores of the node.
    words = "sbatch --parsable -p onprem --mem=10 -t5 -o /dev/null --wrap 'sleep 200'"
    host = VERSIONS[site.version]
    assert "not available" in site.run(host, f"cd /tmp; {words} -c 13 2>&1 || true")
    jobs = site.run(host, f"cd /tmp; {words} -c 12; for gpu in 1 2 3 4 5 6 7 8; do {words} --gpus=1; done").split()
    running = f"squeue -h -t R -j {','.join(jobs)} -o %i"
    wait_for("a job on every GPU", lambda: sorted(ask(site, running).split()), lambda ids: ids == sorted(jobs))
    ask(site, f"scancel {' '.join(jobs)}")


def test_deepops_1295_deepops_1214_no_host_needs_nvidias_library(site: Site) -> None:
    for host in {VERSIONS[site.version], NODES[site.version]}:
        assert "nvidia-ml" not in site.run(host, "ldconfig -p")
        log = site.run(host, "cat /var/log/slurm/slurmctld.log /var/log/slurm/slurmd.log 2>/dev/null || true")
        assert "nvml" not in log.lower()
    assert ask(site, f"sinfo -h -n {NODES[site.version]} -p onprem -o %G").startswith("gpu:h100:8")


def test_appliance_58_a_controller_that_is_a_login_host_is_restarted_only_after_a_change(site: Site) -> None:
    host = VERSIONS[site.version]
    since = site.run(host, "systemctl show -P ActiveEnterTimestampMonotonic slurmctld")
    # Commands of users read slurmctld's own configuration and keys: sackd would use the same folder.
    assert "absent" in site.run(host, "systemctl is-active sackd >/dev/null || echo absent")
    assert NODES[site.version] in ask(site, "sinfo -h -N -o %N", "alice")
    # Once is enough, on the cluster with a single host.
    second_run = site.play(site.folder.parent / "site.yml") if host == NODES[site.version] else {}
    assert all(counts["changed"] == 0 for counts in second_run.values()), second_run
    assert site.run(host, "systemctl show -P ActiveEnterTimestampMonotonic slurmctld") == since


def test_a_key_is_replaced_while_jobs_run(site: Site) -> None:
    controller, node = VERSIONS[site.version], NODES[site.version]
    words = "sbatch --parsable -p onprem --mem=10 -t5 -o /tmp/long.out"
    script = "until [ -e /tmp/replaced ]; do sleep 0.5; done; srun -Q hostname"
    job = ask(site, f"{words} --wrap {shlex.quote(script)}", "alice")
    wait_for("the job to run", lambda: ask(site, f"squeue -h -j {job} -o %T"), lambda state: state == "RUNNING")
    first = keys(site, node)
    assert list(first) == ["first"] == [name for name, key in first.items() if key.get("use") == "default"]
    # The playbook with one release; with the other its steps by hand.
    rotate = by_playbook if site.version == "26.05" else by_hand
    seen = []
    for step in STEPS:
        rotate(site, step)
        node_keys = keys(site, node)
        assert node_keys == keys(site, controller)
        assert ask(site, "srun -Q -p onprem --mem=10 -t1 hostname", "alice") == node, step
        seen.append([("default " if key.get("use") else "") + name for name, key in node_keys.items()])
    new = seen[0][-1]
    assert seen == [["default first", new], ["first", f"default {new}"], [f"default {new}"]]
    # The rotation does not affect the job that ran before, nor its steps.
    site.run(node, "touch /tmp/replaced")
    wait_for("the job's end", lambda: ask(site, f"scontrol show job {job}"), lambda shown: "COMPLETED" in shown)
    assert site.run(node, "cat /tmp/long.out") == node
    assert site.run(controller, "ls /etc/slurm/slurm.key 2>/dev/null || echo none") == "none"


STEPS = ("add", "use", "drop")


def by_playbook(site: Site, step: str) -> None:
    site.play(ROTATE, "-e", f"slurm_key_step={step}")


def by_hand(site: Site, step: str) -> None:
    """Change the key file as the playbook does, on a cluster of one host."""
    host = VERSIONS[site.version]
    key_list = list(keys(site, host).values())
    if step == "add":
        key_list.append(
            {
                **key_list[0],
                "kid": "second",
                "k": key_list[0]["k"][::-1].lstrip("=") + "==="[: key_list[0]["k"].count("=")],
            }
        )
        del key_list[1]["use"]
    elif step == "use":
        key_list[1]["use"] = key_list[0].pop("use")
    else:
        key_list = key_list[1:]
    text = shlex.quote(json.dumps({"keys": key_list}))
    site.run(host, f"printf %s {text} > /etc/slurm/slurm.jwks && systemctl reload slurmctld slurmd && sleep 1")


def keys(site: Site, host: str) -> dict[str, dict[str, str]]:
    """Return the keys of a host, by key id."""
    return {key["kid"]: key for key in json.loads(site.run(host, "cat /etc/slurm/slurm.jwks"))["keys"]}
