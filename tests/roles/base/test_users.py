"""Users of an LDAP directory on real nodes: the same ids everywhere; login with keys, only with permission or a job."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.ansible.inventory import inventory
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.network import netns, ssh
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import connection, play
from tests.unit.core.samples import REMOVED, environment

pytestmark = [pytest.mark.lab]

ONPREM, CLOUD = IPv4Network("10.44.0.0/16"), IPv4Network("10.84.0.0/16")
ADDRESSES = {"login01": "10.44.0.13", "dgx01": "10.44.1.11"}
PASSWORD = "asked-by-hosts-only"
# carol may use the cluster, and erin, who is in its group by her primary group only; dave is in no group of it; the last has a uid in the hosts' own range.
USERS = {"carol": (30001, 30000), "erin": (30003, 30000), "dave": (30002, 30099), "daemon2": (999, 30000)}
PLAYBOOK = [
    {"hosts": "login01:dgx01", "gather_facts": False, "roles": ["tuning", "users"]},
    {"hosts": "dgx01", "gather_facts": False, "roles": ["slurm_adopt"]},
]
SLAPD = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
attributetype ( 1.3.6.1.4.1.24552.500.1.1.1.13 NAME 'sshPublicKey' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 )
objectclass ( 1.3.6.1.4.1.24552.500.1.1.2.0 NAME 'ldapPublicKey' SUP top AUXILIARY MAY ( sshPublicKey $ uid ) )
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile /root/ldap/server.pem
TLSCertificateKeyFile /root/ldap/server.key
security tls=1
database mdb
suffix "dc=example,dc=org"
directory /root/ldap/data
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=hosts,dc=example,dc=org" read by * none
"""
# The server's certificate contains its address; the certificate authority is created here.
CERTIFICATES = f"""
mkdir -p /root/ldap/data && cd /root/ldap
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=test authority' -keyout ca.key -out ca.pem
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=directory' -keyout server.key -out server.csr
printf 'subjectAltName=IP:{ADDRESSES["login01"]}' > names
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out server.pem
"""
# A container has no boot loader: this one collects the files of GRUB's settings as update-grub does.
GRUB = r"""mkdir -p /boot/grub && echo 'GRUB_CMDLINE_LINUX="crashkernel=512M"' > /etc/default/grub
cat > /usr/local/sbin/update-grub <<'END'
#!/bin/sh
. /etc/default/grub
for file in /etc/default/grub.d/*.cfg; do . "$file"; done
echo "linux $GRUB_CMDLINE_LINUX" > /boot/grub/grub.cfg
END
chmod +x /usr/local/sbin/update-grub"""
SLURM_CONF = "ClusterName=test\\nSlurmctldHost=login01\\nSlurmdSpoolDir=/var/lib/slurm/slurmd\\nNodeName=dgx01\\n"


def entries(key: str) -> str:
    """Return the directory's content as LDIF."""
    people = "".join(
        f"""
dn: uid={name},dc=example,dc=org
objectClass: inetOrgPerson
objectClass: posixAccount
objectClass: ldapPublicKey
cn: {name}
sn: {name}
uid: {name}
uidNumber: {number}
gidNumber: {group}
homeDirectory: /somewhere/else
sshPublicKey: {key}
"""
        for name, (number, group) in USERS.items()
    )
    return f"""dn: dc=example,dc=org
objectClass: domain
dc: example

dn: cn=hosts,dc=example,dc=org
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: hosts
userPassword: {PASSWORD}
{people}
dn: cn=gpu-users,dc=example,dc=org
objectClass: posixGroup
cn: gpu-users
gidNumber: 30000
memberUid: carol
"""


@dataclass(frozen=True)
class Site:
    """A login host with the directory on it, and a compute node."""

    lab: Layout
    folder: Path

    def run(self, node: str, command: str, timeout: float = 120) -> str:
        completed = nodes.exec(self.lab, node, [command], timeout=timeout)
        assert completed.returncode == 0, f"{node}: {command}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout).strip()

    def login(self, user: str, node: str, command: str = "id -un") -> subprocess.CompletedProcess[str]:
        """Log in as a user does: by ssh, with the key in the directory."""
        words = ["ssh", *ssh.options(self.lab), "-o", "BatchMode=yes", "-i", str(self.folder / "key")]
        return subprocess.run(
            self.inside(*words, f"{user}@{ADDRESSES[node]}", command),
            capture_output=True,
            text=True,
            check=False,
        )

    def inside(self, *words: str) -> list[str]:
        return ["nsenter", f"--net={netns.FOLDER / self.lab.netns}", *words]

    def converge(self, *words: str) -> dict[str, int]:
        """Run the roles and return the numbers of changes, by host."""
        run = play(self.lab, self.folder, PLAYBOOK, self._inventory(), *words).good()
        assert PASSWORD not in run.text
        return run.changed

    def _inventory(self) -> dict[str, Any]:
        services: dict[str, Any] = {"controller": ["login01"], "login": ["login01"]}
        services |= dict.fromkeys(("database", "storage", "gateway", "mlops"), "login01")
        directory = {
            "uris": [f"ldap://{ADDRESSES['login01']}"],
            "base": "dc=example,dc=org",
            "bind_dn": "cn=hosts,dc=example,dc=org",
            "ca_certificate": self.run("login01", "cat /root/ldap/ca.pem") + "\n",
            "groups": ["gpu-users"],
        }
        chosen = environment(
            {
                ("onprem", "cidr"): str(ONPREM),
                ("onprem", "nodes", 0): {"hosts": "dgx01", "platform": "dgx-h100", "address": ADDRESSES["dgx01"]},
                ("onprem", "services"): services,
                ("onprem", "addresses"): {"login01": ADDRESSES["login01"]},
                ("aws", "cidr"): str(CLOUD),
                ("aws", "pools"): [],
                ("link",): REMOVED,
                ("hosts",): {"directory": directory},
            }
        )
        data = inventory(chosen)
        data["all"]["vars"] |= {
            **connection(self.lab),
            "users_directory_password": PASSWORD,
        }
        # In the lab the login host is also the server of homes.
        data["nfs_server"]["vars"]["users_homes_root"] = "/home"
        return data


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lab = layout("landbridge-test-users")
    cleanup.down(lab)
    try:
        whole.up(lab, plan(ONPREM, CLOUD, None, tuple(Machine(name, address) for name, address in ADDRESSES.items())))
        started = Site(lab, tmp_path_factory.mktemp("users"))
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", started.folder / "key"], check=True)
        quiet = "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d"
        packages = "DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends slapd openssl"
        started.run("login01", f"{quiet} && {packages} >/dev/null && rm /usr/sbin/policy-rc.d")
        started.run("login01", CERTIFICATES.strip().replace("\n", " && ") + " 2>/dev/null")
        started.run("login01", f"cat > /root/ldap/slapd.conf <<'END'{SLAPD}END")
        started.run(
            "login01",
            f"slapadd -q -f /root/ldap/slapd.conf <<'END'\n{entries((started.folder / 'key.pub').read_text().strip())}END",
        )
        started.run("login01", "systemd-run --quiet --unit=directory slapd -d 0 -f /root/ldap/slapd.conf -h ldap:///")
        started.run(
            "dgx01", f"mkdir -p /etc/slurm /var/lib/slurm/slurmd && printf '{SLURM_CONF}' > /etc/slurm/slurm.conf"
        )
        started.run("dgx01", GRUB)
        started.converge()
        yield started
    finally:
        cleanup.down(lab)


def test_a_second_run_changes_nothing(site: Site) -> None:
    assert site.converge("--diff") == {"login01": 0, "dgx01": 0}


def test_deepops_147_users_of_a_directory_have_the_same_uids_on_all_hosts(site: Site) -> None:
    for node in ADDRESSES:
        assert site.run(node, "getent passwd carol") == "carol:*:30001:30000:carol:/home/carol:/bin/bash"
        assert site.run(node, "id -Gn carol") == "gpu-users"
        # An entry with a uid in the hosts' own range is not visible.
        assert site.run(node, "getent passwd daemon2 || echo nobody") == "nobody"


def test_a_new_user_gets_a_home_and_logs_in_with_the_directorys_key(site: Site) -> None:
    site.run("login01", "systemctl start users-homes.service")
    done = site.login("carol", "login01", "id -u; pwd; stat -c '%U %a' .")
    assert (done.returncode, done.stdout.split()) == (0, ["30001", "/home/carol", "carol", "700"]), done.stderr


def test_a_user_of_the_primary_group_gets_a_home_too(site: Site) -> None:
    assert "erin" not in site.run("login01", "getent group gpu-users")
    # sssd enumerates the directory some seconds after its start, and after a failure again five minutes later.
    site.run("login01", "until [ -d /home/erin ]; do systemctl start users-homes; sleep 5; done", timeout=900)
    done = site.login("erin", "login01", "id -u; pwd")
    assert (done.returncode, done.stdout.split()) == (0, ["30003", "/home/erin"]), done.stderr
    assert site.run("login01", "ls /home") == "carol\nerin"


def test_a_user_in_none_of_the_groups_cannot_log_in(site: Site) -> None:
    assert site.run("login01", "getent passwd dave")
    assert site.login("dave", "login01").returncode == 255


def test_deepops_988_no_user_of_the_directory_can_log_in_to_a_node_without_a_job(site: Site) -> None:
    done = site.login("carol", "dgx01")
    assert (done.returncode, done.stdout) == (255, "")
    assert "pam_slurm_adopt" in site.run(
        "dgx01", "journalctl --quiet --no-pager --grep 'no active jobs|pam_slurm_adopt'"
    )
    # Operators can log in.
    assert site.run("dgx01", "id -un") == "root"


def test_a_host_has_the_kernel_settings_and_limits_of_its_role(site: Site) -> None:
    # In a container only the network's keys are its own; the others belong to its host and do not change.
    assert site.run("login01", "sysctl -n net.core.somaxconn") == "4096"
    assert site.run("dgx01", "sysctl -n net.ipv4.conf.all.accept_redirects") == "0"
    assert "kernel.numa_balancing = 0\n" in site.run("dgx01", "cat /etc/sysctl.d/60-tuning.conf") + "\n"
    assert "numa_balancing" not in site.run("login01", "cat /etc/sysctl.d/60-tuning.conf")
    # The lab's host may not permit more open files: a lowered limit shows that sessions read the limits.
    assert "* hard nofile 1048576" in site.run("login01", "cat /etc/security/limits.d/60-tuning.conf")
    assert site.login("carol", "login01", "ulimit -Sc").stdout.split() == ["0"]
    assert site.run("dgx01", "systemctl is-enabled tuning") == "enabled"
    # On a GPU node only, beside the arguments of the host's owner.
    assert site.run("dgx01", "cat /boot/grub/grub.cfg") == "linux crashkernel=512M iommu=pt"
    assert site.run("dgx01", "systemctl cat tuning | grep -c landbridge-acs") == "1"
    site.run("login01", "! test -e /etc/default/grub.d/60-tuning.cfg")


def test_a_stopped_directory_does_not_stop_known_users(site: Site) -> None:
    site.run("login01", "systemctl stop directory")
    try:
        assert site.login("carol", "login01").stdout.strip() == "carol"
        assert site.run("dgx01", "id -u carol") == "30001"
    finally:
        site.run("login01", "systemd-run --quiet --unit=directory slapd -d 0 -f /root/ldap/slapd.conf -h ldap:///")


def test_only_root_can_read_the_password(site: Site) -> None:
    assert site.run("dgx01", "stat -c '%U %G %a' /etc/sssd/sssd.conf") == "root root 640"
