"""Slurm's files before real daemons of both releases; keys of auth/slurm, GPUs under it, and hosts that are several things."""

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

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

VERSIONS = {"26.05": "ctl01", "24.11": "old01"}
NODES = {"26.05": "dgx01", "24.11": "old01"}
ROTATE = ROOT / "ansible/playbooks/rotate_slurm_key.yml"
#: There is no database behind the lab's slurmctld, and without one it does not start with these.
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
        found = {version: Site(lab, folder_ / version, version) for version in VERSIONS}
        with ThreadPoolExecutor() as both:
            list(both.map(lambda site: site.play(folder_ / "site.yml"), found.values()))
            for one in found.values():
                for host in {VERSIONS[one.version], NODES[one.version]}:
                    one.run(host, "id alice >/dev/null 2>&1 || useradd --uid 20001 --create-home alice")
            # Other examples want munge, which a host with auth/slurm does not have.
            list(
                both.map(
                    lambda site: site.run(
                        VERSIONS[site.version], "apt-get -q install -y munge && systemctl start munge"
                    ),
                    found.values(),
                )
            )
        for version, site in found.items():
            wait_for(f"{version} in service", partial(node_state, site), lambda state: state == "idle")
        yield found
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
    """Return the messages of slurmctld about these files."""
    files = {path.name: path.read_text() for path in folder(name, site.version).iterdir()}
    lines = files["slurm.conf"].splitlines()
    files["slurm.conf"] = "\n".join(line for line in lines if line.partition("=")[0] not in WITHOUT_DATABASE) + "\n"
    host, _, address = conf.settings(files["slurm.conf"])["SlurmctldHost"].rstrip(")").partition("(")
    given = shlex.quote(json.dumps([host, address, files]))
    command = (
        f"printf %s {given} | unshare --net --uts --mount --pid --fork --kill-child python3 -c {shlex.quote(START)}"
    )
    told = json.loads(site.run(VERSIONS[site.version], command))
    return {"files": files, **told}


#: What every first start without a database says.
EXPECTED = (
    "state file",
    "state save file",
    "SlurmDBD",
    "Job accounting information",
    "pidfile",
    "MailProg",
    "collecting accounting",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_real_slurmctld_understands_every_golden_file_as_it_was_meant(site: Site, name: str) -> None:
    told = started(site, name)
    text, log = told["files"]["slurm.conf"], told["log"]
    assert "Running as primary controller" in log, log
    bad = [line for line in log.splitlines() if "error" in line.lower() or "fatal" in line.lower()]
    assert [line for line in bad if not any(words in line for words in EXPECTED)] == [], log
    said = {
        key.strip().casefold(): value.strip()
        for key, _, value in (line.partition("=") for line in told["config"].splitlines())
    }
    for key, value in conf.settings(text).items():
        # The hosts are numbered there, and of what is private `cloud` is never said (nodes that are powered down are listed below).
        if key not in ("SlurmctldHost", "PrivateData"):
            # Of what can be there more than once, as a list.
            told_of = said.get(key.casefold(), said.get(f"{key.casefold()}[0]", ""))
            assert same(value, told_of), f"{key}: {value} is {told_of}"
    nodes = {one["name"]: one for one in json.loads(told["nodes --json"])["nodes"]}
    wanted = conf.objects(text, "NodeName")
    assert set(nodes) == set(wanted)
    for host, line in wanted.items():
        found = nodes[host]
        assert (found["sockets"], found["cores"], found["threads"]) == tuple(
            int(line[key]) for key in ("Sockets", "CoresPerSocket", "ThreadsPerCore")
        )
        assert (found["real_memory"], found["specialized_cores"], found["specialized_memory"]) == tuple(
            int(line.get(key, 0)) for key in ("RealMemory", "CoreSpecCount", "MemSpecLimit")
        )
        assert (found["gres"].partition("(")[0], found["weight"]) == (line.get("Gres", ""), int(line["Weight"]))
        assert set(found["features"]) == set(line["Feature"].split(","))
        assert ("CLOUD" in found["state"]) == (line["State"] == "CLOUD")
    queues = {one["name"]: one for one in json.loads(told["partitions --json"])["partitions"]}
    for queue, line in conf.objects(text, "PartitionName").items():
        assert set(hostlist.expand(queues[queue]["nodes"]["configured"])) == set(hostlist.expand(line["Nodes"]))
    assert set(queues) == set(conf.objects(text, "PartitionName"))


def same(value: str, said: str) -> bool:
    """Return whether slurmctld reports the file's value, in its own units and order."""
    if re.fullmatch(r"(\d+-)?[\d:]+", value) and re.fullmatch(r"(\d+-)?\d+:\d\d:\d\d", said):
        return seconds(value) == seconds(said)
    said = said.replace("(null)", "none" if value == "none" else "")
    words = said.split()
    parts = {part.casefold() for part in value.split(",")}
    return (
        value.casefold() in {said.casefold(), *(word.partition("(")[0].casefold() for word in words)}
        or parts <= {part.casefold() for part in said.split(",")}
        or (
            value in ("yes", "no", "0", "1")
            and said.casefold() in {"yes": ("yes", "1"), "1": ("yes", "1")}.get(value, ("no", "0"))
        )
    )


LOOK = """
import os, json
found = {}
for number in range(8):
    try:
        os.close(os.open(f"/dev/nvidia{number}", os.O_RDONLY))
        found[number] = 0
    except OSError as error:
        found[number] = error.errno
print(json.dumps([os.environ["CUDA_VISIBLE_DEVICES"], found]))
"""


def test_a_job_sees_its_gpus_and_no_other_under_auth_slurm(site: Site) -> None:
    assert "auth/slurm" in ask(site, "scontrol show config")
    command = shlex.quote(f"python3 -c {shlex.quote(LOOK)}")
    visible, found = json.loads(
        ask(site, f"srun -Q -p onprem --mem=100 -t1 --gres=gpu:h100:2 sh -c {command}", "alice")
    )
    # No driver answers behind the lab's device files (ENXIO); another job's are denied (EPERM).
    assert sorted(found.values()) == [errno.EPERM] * 6 + [errno.ENXIO] * 2
    assert len(visible.split(",")) == 2


def test_gpus_keep_their_cores_whatever_jobs_without_one_take(site: Site) -> None:
    told = ask(site, f"scontrol show node {NODES[site.version]}")
    assert "CPUEfctv=220 " in told and "CoreSpecCount=2 CPUSpecList=110-111,222-223 MemSpecLimit=16384" in told
    assert "RestrictedCoresPerGPU=13(0-51,56-107)" in told
    # No job without a GPU gets those; what is left of the node is.
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


def test_appliance_58_a_controller_where_people_log_in_is_restarted_by_nothing_but_a_change(site: Site) -> None:
    host = VERSIONS[site.version]
    since = site.run(host, "systemctl show -P ActiveEnterTimestampMonotonic slurmctld")
    # Commands of users find slurmctld's own configuration and keys: a second daemon would want the same folder.
    assert "absent" in site.run(host, "systemctl is-active sackd >/dev/null || echo absent")
    assert NODES[site.version] in ask(site, "sinfo -h -N -o %N", "alice")
    # Once is enough, where one host is everything.
    again = site.play(site.folder.parent / "site.yml") if host == NODES[site.version] else {}
    assert all(counts["changed"] == 0 for counts in again.values()), again
    assert site.run(host, "systemctl show -P ActiveEnterTimestampMonotonic slurmctld") == since


def test_a_key_is_replaced_while_jobs_run(site: Site) -> None:
    controller, node = VERSIONS[site.version], NODES[site.version]
    words = "sbatch --parsable -p onprem --mem=10 -t5 -o /tmp/long.out"
    script = "until [ -e /tmp/replaced ]; do sleep 0.5; done; srun -Q hostname"
    job = ask(site, f"{words} --wrap {shlex.quote(script)}", "alice")
    wait_for("the job to run", lambda: ask(site, f"squeue -h -j {job} -o %T"), lambda state: state == "RUNNING")
    first = keys(site, node)
    assert list(first) == ["first"] == [name for name, key in first.items() if key.get("use") == "default"]
    # The playbook on one release; on the other what it comes to, by hand.
    take = by_playbook if site.version == "26.05" else by_hand
    seen = []
    for step in STEPS:
        take(site, step)
        held = keys(site, node)
        assert held == keys(site, controller)
        assert ask(site, "srun -Q -p onprem --mem=10 -t1 hostname", "alice") == node, step
        seen.append([("default " if key.get("use") else "") + name for name, key in held.items()])
    new = seen[0][-1]
    assert seen == [["default first", new], ["first", f"default {new}"], [f"default {new}"]]
    # The job that was there before knows nothing of it, nor do its steps.
    site.run(node, "touch /tmp/replaced")
    wait_for("the job's end", lambda: ask(site, f"scontrol show job {job}"), lambda shown: "COMPLETED" in shown)
    assert site.run(node, "cat /tmp/long.out") == node
    assert site.run(controller, "ls /etc/slurm/slurm.key 2>/dev/null || echo none") == "none"


STEPS = ("add", "use", "drop")


def by_playbook(site: Site, step: str) -> None:
    site.play(ROTATE, "-e", f"slurm_key_step={step}")


def by_hand(site: Site, step: str) -> None:
    """Run the playbook with all roles on one host."""
    host = VERSIONS[site.version]
    held = list(keys(site, host).values())
    if step == "add":
        held.append(
            {**held[0], "kid": "second", "k": held[0]["k"][::-1].lstrip("=") + "==="[: held[0]["k"].count("=")]}
        )
        del held[1]["use"]
    elif step == "use":
        held[1]["use"] = held[0].pop("use")
    else:
        held = held[1:]
    text = shlex.quote(json.dumps({"keys": held}))
    site.run(host, f"printf %s {text} > /etc/slurm/slurm.jwks && systemctl reload slurmctld slurmd && sleep 1")


def keys(site: Site, host: str) -> dict[str, dict[str, str]]:
    """The keys that a host has, by their names."""
    return {one["kid"]: one for one in json.loads(site.run(host, "cat /etc/slurm/slurm.jwks"))["keys"]}
