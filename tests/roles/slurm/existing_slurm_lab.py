"""Lab with a Slurm 24.11 that no role of Landbridge made: a host with all daemons, and a machine that acts as an instance.

Commands of an operator write its files and install Debian's packages.
"""

import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from sandbox.demo.cluster import LabCluster, wait_for
from sandbox.nspawn.site import Machine, plan

ONPREM, CLOUD = IPv4Network("10.58.0.0/16"), IPv4Network("10.98.0.0/16")
HEAD, INSTANCE = "head", "inst01"
ADDRESSES = {HEAD: "10.58.0.11", INSTANCE: "10.58.9.11"}
SITE = plan(ONPREM, CLOUD, None, (Machine(HEAD, ADDRESSES[HEAD]), Machine(INSTANCE, ADDRESSES[INSTANCE], gpus=8)))
#: Another uid than Debian's, as on a site that has numbered its accounts itself.
UID = 202
FOLDER = "/etc/slurm"

SLURM_CONF = f"""\
# physics, since 2021
clustername=physics
SlurmctldHost={HEAD}({ADDRESSES[HEAD]})
SlurmUser=slurm
StateSaveLocation=/srv/slurm/state
SlurmdSpoolDir=/srv/slurm/spool/d
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
# The lab's machines have fewer cores than they declare.
SlurmdParameters=config_overrides
SlurmctldParameters=power_save_interval=1
SlurmdTimeout=900
ReturnToService=1
SrunPortRange=60001-63000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={HEAD}
AccountingStorageEnforce=associations,limits
Include nodes.conf
"""
NODES_CONF = f"""\
NodeName=DEFAULT TmpDisk=0 State=UNKNOWN
NodeName={HEAD} CPUs=2 RealMemory=500
PartitionName=batch Nodes=ALL Default=YES MaxTime=60
"""
SLURMDBD_CONF = f"""\
AuthType=auth/munge
DbdHost={HEAD}
SlurmUser=slurm
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageUser=slurm
StoragePass=password-of-the-lab
StorageLoc=slurm_acct_db
"""
FILES = {
    "slurm.conf": SLURM_CONF,
    "nodes.conf": NODES_CONF,
    "cgroup.conf": "CgroupPlugin=disabled\n",
    "slurmdbd.conf": SLURMDBD_CONF,
}
_ACCOUNTS = f"""
groupadd --system --gid {UID} slurm
useradd --system --uid {UID} --gid {UID} --home-dir /nonexistent --shell /usr/sbin/nologin slurm
useradd --uid 20001 --create-home alice
export DEBIAN_FRONTEND=noninteractive
# No daemon starts before its files exist.
printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
apt-get -q update
"""
_HEAD = f"""set -e
{_ACCOUNTS}
apt-get -q install -y --no-install-recommends \
  slurmctld slurmd slurmdbd slurm-client slurm-wlm-mysql-plugin munge mariadb-server patch
rm -f /usr/sbin/policy-rc.d
mkdir -p /srv/slurm/state /srv/slurm/spool /var/log/slurm
chown slurm: /srv/slurm/state /var/log/slurm
chown slurm: {FOLDER}/slurmdbd.conf && chmod 600 {FOLDER}/slurmdbd.conf
rm -rf {FOLDER}/plugstack.conf {FOLDER}/plugstack.conf.d
systemctl restart munge mariadb
mariadb -e "create database slurm_acct_db; create user slurm@localhost identified by 'password-of-the-lab';
  grant all on slurm_acct_db.* to slurm@localhost"
systemctl restart slurmdbd
for attempt in $(seq 120); do sacctmgr -n list cluster >/dev/null 2>&1 && break; sleep 1; done
sacctmgr -i add cluster physics
sacctmgr -i add account vision
sacctmgr -i add user alice account=vision
sacctmgr -i add user root account=root || true
systemctl restart slurmctld slurmd
"""
_INSTANCE = f"""set -e
{_ACCOUNTS}
apt-get -q install -y --no-install-recommends slurmd slurm-client munge
rm -rf /usr/sbin/policy-rc.d {FOLDER}/*
echo "{ADDRESSES[HEAD]} {HEAD}" >> /etc/hosts
mkdir -p /srv/slurm/spool /var/log/slurm
chown slurm: /var/log/slurm
"""


@dataclass(frozen=True)
class ExistingSite(LabCluster):
    """The cluster, with commands of its operator and of alice."""

    def shell(self, host: str, script: str, user: str | None = None) -> str:
        """Return the output of a script."""
        return self.run(host, "sh", "-c", script, user=user, timeout=500)

    def make(self) -> None:
        """Install and start Slurm by hand."""
        self.make_head()
        self.shell(INSTANCE, _INSTANCE)
        key = self.shell(HEAD, "base64 /etc/munge/munge.key")
        self.shell(INSTANCE, f"echo '{key.strip()}' | base64 -d > /etc/munge/munge.key && systemctl restart munge")

    def make_head(self) -> None:
        """Install and start Slurm on its host."""
        for name, text in FILES.items():
            self.put(HEAD, f"{FOLDER}/{name}", text.encode(), "root")
        self.shell(HEAD, _HEAD)
        wait_for("the node in service", lambda: self.states().get(HEAD), lambda state: state == "idle")

    def states(self) -> dict[str, str]:
        """Return sinfo's state of each node."""
        rows = self.run(HEAD, "sinfo", "--all", "--noheader", "--Node", "--format=%N %T").splitlines()
        return dict(row.split() for row in rows)

    def submit(self, *options: str, script: str = "hostname") -> int:
        """Submit a job of alice."""
        words = ["sbatch", "--parsable", "--account=vision", "--time=9", "--chdir=/tmp", "--output=/tmp/%j.out"]
        return int(self.run(HEAD, *words, *options, "--wrap", script, user="alice").strip())

    def job(self, number: int) -> str:
        """Return state and nodes of a job."""
        return self.run(
            HEAD, "squeue", "--all", "--noheader", "--states=all", f"--job={number}", "--format=%T %N"
        ).strip()

    def boot(self, node: str, address: str) -> None:
        """Start slurmd of a node in AWS at its instance's address, with the files that slurmctld sends."""
        self.shell(INSTANCE, f"ip addr add {address}/32 dev {_device(ADDRESSES[HEAD])}")
        self.shell(HEAD, f"ip route replace {address}/32 dev {_device(ADDRESSES[INSTANCE])}")
        # -b: the machine counts as booted now; slurmctld ignores a node that has not booted since it was resumed.
        words = f"slurmd -D -b -N {node} --conf-server {ADDRESSES[HEAD]}:6817"
        self.shell(INSTANCE, f"systemd-run --unit=instance --collect {words}")

    def describe(self) -> str:
        """Return the queue, the nodes, and the ends of the logs."""
        script = (
            "squeue --all --states=all; sinfo --Node --long; tail -n 30 /var/log/slurm/slurmctld.log;"
            " journalctl --unit=landbridge-burst --lines=20 --no-pager; tail -n 10 /var/lib/landbridge/decisions.jsonl"
        )
        instance = self.shell(
            INSTANCE, "journalctl --unit=instance --lines=30 --no-pager; tail /var/log/slurm/slurmd.log; true"
        )
        return self.shell(HEAD, f"{script}; true") + instance

    def files(self) -> dict[str, str]:
        """Return the files of /etc/slurm."""
        names = self.run(HEAD, "ls", FOLDER).split()
        return {name: self.run(HEAD, "cat", f"{FOLDER}/{name}") for name in names}


def _device(address: str) -> str:
    """Return the shell words for the network device through which a host reaches an address."""
    return f"$(ip -o route get {address} | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p')"


def adopt(conf: Path, out: Path) -> None:
    """Run `landbridge adopt` on a copy of the site's files."""
    (conf.parent / "hosts").write_text("10.58.0.1 gw01\n")
    options = {
        "--name": "physics-aws",
        "--owner": "physics@example.org",
        "--region": "us-east-1",
        "--slurm": "24.11.5",
        "--slurm-uid": str(UID),
        "--onprem-cidr": str(ONPREM),
        "--aws-cidr": str(CLOUD),
        "--pool": "p5=p5.48xlarge:4",
        "--account": "vision",
        "--gateway": "gw01",
        "--gateway-address": "198.51.100.7",
        "--hosts": str(conf.parent / "hosts"),
        "--out": str(out),
    }
    words = [word for pair in options.items() for word in pair]
    program = Path(sys.executable).with_name("landbridge")
    done = subprocess.run([program, "adopt", conf, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
