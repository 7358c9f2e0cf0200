"""Storage on real hosts; tests named after complaints about other kits (onprem.md, section 5)."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.hardware.packages.repository import publish
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.ansible_run import Played
from tests.roles.storage.storage_lab import (
    ADDRESSES,
    CLIENT,
    EXPORT,
    HOME,
    MOUNTED,
    OPERATOR,
    OPERATORS,
    SERVED,
    SERVER,
    SITE,
    Storage,
)

pytestmark = [pytest.mark.lab]
LOCAL = "/var/lib/landbridge/homes"
#: rpc.statd takes any reserved port, also the one of ganesha's service of remote quotas, 875.
HOLD_PORT_OF_QUOTAS = (
    "systemd-run --quiet --unit=holds-875 perl -MSocket -e"
    " 'socket(S, PF_INET, SOCK_DGRAM, 0); bind(S, sockaddr_in(875, INADDR_LOOPBACK)) or die; sleep 3600'"
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    lab = layout("landbridge-test-storage")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        storage = Storage(lab, tmp_path_factory.mktemp("storage"))
        storage.settle()
        storage.run(SERVER, HOLD_PORT_OF_QUOTAS)
        server = [{"hosts": SERVER, "roles": ["nfs_server"]}]
        storage.play(server, "--check", "--diff", **SERVED).good()
        storage.play(server, **SERVED).good()
        yield storage
    finally:
        cleanup.down(lab)


def test_deepops_1273_homes_are_not_mounted_over_the_home_of_a_logged_in_user(hosts: Storage) -> None:
    refused = hosts.mount()
    assert refused.code != 0
    assert f"would be out of reach: {OPERATOR} (with which you are logged in)" in refused.one_line
    assert hosts.log_in() == f"/home/{OPERATOR}\nmay\n"
    assert (
        hosts.run(CLIENT, "ls /etc/systemd/system/home.mount 2>/dev/null; grep -c ' /home ' /proc/mounts; true") == "0"
    )
    # With a folder for local homes, the role first copies them there, with their keys.
    hosts.mount("--check", "--diff", nfs_client_local_homes=LOCAL).good()
    assert hosts.log_in() == f"/home/{OPERATOR}\nmay\n"
    assert hosts.mount(nfs_client_local_homes=LOCAL).good().changed[CLIENT] > 0
    assert f"{SERVER}:{EXPORT} /home " in hosts.run(CLIENT, "cat /proc/mounts")
    assert hosts.run(CLIENT, "ls /home") == "alice"
    assert hosts.log_in() == f"{LOCAL}/{OPERATOR}\nmay\n"
    second_run = hosts.mount("--diff", nfs_client_local_homes=LOCAL)
    assert second_run.good().changed[CLIENT] == 0, second_run.one_line


def test_deepops_1273_a_busy_home_is_neither_unmounted_nor_replaced(hosts: Storage) -> None:
    hosts.run(CLIENT, "setsid runuser -u alice -- sh -c 'cd; exec sleep 4800 > mark' >/dev/null 2>&1 &")
    pid = hosts.run(CLIENT, "sleep 0.5; pgrep -u alice -x sleep")
    options = "vers=4.2,hard,nosuid,nodev,noatime"
    changed_options = hosts.mount(nfs_client_local_homes=LOCAL, nfs_client_options=options)
    assert changed_options.good().changed[CLIENT] > 0
    assert "/home keeps its present options until the next mount" in changed_options.one_line
    assert options in hosts.run(CLIENT, "systemctl show home.mount -P Options; cat /etc/systemd/system/home.mount")
    elsewhere = [{"server": SERVER, "export": "/export/other", "mount": HOME}]
    refused = hosts.mount(nfs_client_local_homes=LOCAL, nfs_client_mounts=elsewhere)
    assert (
        refused.code != 0 and f"{SERVER}:{EXPORT} is mounted on /home, and {SERVER}:/export/other" in refused.one_line
    )
    assert EXPORT in hosts.run(CLIENT, "cat /etc/systemd/system/home.mount")
    assert hosts.run(CLIENT, f"readlink /proc/{pid}/cwd; runuser -u alice -- ls /home/alice") == "/home/alice\nmark"
    hosts.run(CLIENT, f"kill {pid}")


def test_the_server_starts_while_another_program_has_the_port_of_remote_quotas(hosts: Storage) -> None:
    assert "perl" in hosts.run(SERVER, "ss -ulnpH 'sport = :875'")
    assert "ganesha" in hosts.run(SERVER, "ss -tlnpH 'sport = :2049'")


def test_a_killed_server_starts_again(hosts: Storage) -> None:
    main_process = "systemctl show -P MainPID nfs-ganesha"
    killed = hosts.run(SERVER, f"{main_process}; systemctl kill --signal=KILL nfs-ganesha")
    # systemd shows 0 between the end and the new start.
    script = f"until test $({main_process}) -ne {killed} -a $({main_process}) -ne 0; do sleep 1; done; {main_process}"
    assert hosts.run(SERVER, f"timeout 120 sh -c '{script}'") not in (killed, "0")
    assert hosts.run(SERVER, "systemctl is-active nfs-ganesha") == "active"


def test_deepops_939_the_server_offers_the_version_that_clients_mount(hosts: Storage) -> None:
    assert "vers=4.2" in hosts.run(CLIENT, "cat /etc/systemd/system/home.mount")
    hosts.run(CLIENT, "apt-get -qq --no-install-recommends install libnfs-utils >/dev/null")
    listed = hosts.run(CLIENT, f"nfs-ls 'nfs://{ADDRESSES[SERVER]}{EXPORT}?version=4'")
    assert "alice" in listed


def test_root_of_a_client_has_no_rights_on_the_server(hosts: Storage) -> None:
    assert hosts.run(CLIENT, "touch /home/alice/mine 2>&1 || true").endswith("Permission denied")
    assert hosts.run(CLIENT, "runuser -u alice -- touch /home/alice/mine && stat -c %U /home/alice/mine") == "alice"


def test_a_mount_that_fails_at_boot_is_repeated_and_what_waits_for_it_starts(hosts: Storage) -> None:
    """After a power loss the file server is later than its clients."""
    services = {
        "waits": "RequiresMountsFor=/home\n[Service]\nExecStart=/bin/sleep infinity",
        "stopped": "RequiresMountsFor=/home\n[Service]\nExecStart=/bin/sleep infinity",
        "slurmd": "[Service]\nExecStart=/bin/sleep infinity",
        "landbridge-node-return": "[Service]\nType=oneshot\nExecStart=/bin/mountpoint /home",
    }
    for name, text in services.items():
        unit = f"[Unit]\n{text}\n[Install]\nWantedBy=multi-user.target\n"
        hosts.run(CLIENT, f"printf '{unit}' > /etc/systemd/system/{name}.service")
    hosts.run(SERVER, "systemctl stop nfs-ganesha")
    names = "waits slurmd landbridge-node-return"
    hosts.run(
        CLIENT,
        f"systemctl daemon-reload; systemctl enable {names}; systemctl stop home.mount;"
        f" systemctl start home.mount stopped {names} || true",
    )
    states = "systemctl is-active home.mount landbridge-mount-again@home waits stopped || true"
    assert hosts.run(CLIENT, states).split()[1:] == ["activating", "inactive", "inactive"]
    assert hosts.run(CLIENT, "systemctl is-failed landbridge-node-return") == "failed"
    hosts.run(SERVER, "systemctl start nfs-ganesha")
    hosts.run(CLIENT, "timeout 300 sh -c 'until systemctl is-active waits; do sleep 1; done'")
    hosts.run(CLIENT, "timeout 60 sh -c 'while systemctl is-failed landbridge-node-return; do sleep 1; done'")
    assert hosts.run(CLIENT, states).split() == ["active", "inactive", "active", "inactive"]
    assert hosts.run(CLIENT, "ls /home") == "alice"
    hosts.run(
        CLIENT,
        f"systemctl disable --now {names}; cd /etc/systemd/system; rm stopped.service waits.service slurmd.service landbridge-node-return.service; systemctl daemon-reload",
    )


def test_the_server_has_the_homes_at_the_path_of_its_clients(hosts: Storage) -> None:
    """Users log in to the server too: its own folder is bind-mounted there, without NFS."""
    variables = {**MOUNTED, "nfs_client_mounts": [{"export": EXPORT, "mount": HOME}]}
    plays = [{"hosts": SERVER, "roles": ["nfs_client"]}]
    hosts.play(plays, "--check", "--diff", **variables).good()
    assert hosts.play(plays, **variables).good().changed[SERVER] > 0
    assert hosts.run(SERVER, "runuser -u alice -- sh -c 'cd && pwd && ls mine'") == "/home/alice\nmine"
    assert hosts.run(SERVER, f"stat -c %d:%i /home {EXPORT} | uniq | wc -l") == "1"
    second_run = hosts.play(plays, "--diff", **variables)
    assert second_run.good().changed[SERVER] == 0, second_run.one_line
    elsewhere = {**variables, "nfs_client_mounts": [{"export": "/srv", "mount": HOME}]}
    refused = hosts.play(plays, **elsewhere)
    assert refused.code != 0 and "and /srv is wanted there" in refused.one_line


#: Repository with the layout of AWS's efs-utils. Its helper mounts a tmpfs under the name of a tunnel, and records its arguments.
HELPER = """set -e
apt-get -qq --no-install-recommends install git >/dev/null 2>&1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q /srv/efs-utils && cd /srv/efs-utils && mkdir -p src/mount_efs src/watchdog src/efs_utils_common dist
cat > src/mount_efs/__init__.py <<'END'
#!/usr/bin/env python3
import subprocess, sys
from efs_utils_common import VERSION
from mount_efs.dns_resolver import SOURCE
if "--version" in sys.argv:
    sys.exit(print(VERSION))
open("/run/efs-arguments", "w").write(" ".join(sys.argv[1:]))
subprocess.run(["mount", "-t", "tmpfs", SOURCE, sys.argv[2]], check=True)
END
echo 'SOURCE = "127.0.0.1:/"' > src/mount_efs/dns_resolver.py
echo 'VERSION = "lab"' > src/efs_utils_common/__init__.py
for name in src/watchdog/__init__.py dist/amazon-efs-mount-watchdog.service dist/efs-utils.crt dist/efs-utils.conf; do echo > $name; done
git add . && git commit -qm one && git rev-parse HEAD
"""


def test_efs_is_mounted_by_the_helper_of_one_commit(hosts: Storage) -> None:
    commit = hosts.run(CLIENT, HELPER).splitlines()[-1]
    plays = [{"hosts": CLIENT, "roles": ["efs_utils", "nfs_client"]}]
    share = {"server": "fs-1", "export": "/", "mount": "/files", "options": "tls,iam", "type": "efs"}

    def run(commit: str, *words: str) -> Played:
        source = {"address": "/srv/efs-utils", "version": "lab", "commit": commit}
        return hosts.play(plays, *words, efs_utils_source=source, nfs_client_mounts=[share])

    run(commit, "--check", "--diff").good()
    failed = run("0" * 40)
    assert failed.code != 0 and "0000000000" in failed.one_line
    run(commit).good()
    assert "127.0.0.1:/ /files tmpfs " in hosts.run(CLIENT, "cat /proc/mounts")
    assert hosts.run(CLIENT, "cat /run/efs-arguments") == "fs-1:/ /files -o rw,tls,iam,stunnel"
    assert (
        hosts.run(CLIENT, "command -v stunnel; ls /var/lib/landbridge/efs-utils 2>/dev/null; true")
        == "/usr/bin/stunnel"
    )
    second_run = run(commit, "--diff")
    assert second_run.good().changed[CLIENT] == 0, second_run.one_line
    # The helper of AWS's package stays.
    hosts.run(CLIENT, "rm /etc/amazon/efs/landbridge")
    assert run("0" * 40).good().changed[CLIENT] == 0


FAST = {"source": "10.48.9.1@o2ib:10.48.9.2@o2ib:/fast", "mount": "/fast"}
#: Stand-in of modinfo, because the lab's kernel has no modules; apt, systemd and mount are real.
MODINFO = "printf '#!/bin/sh\\necho 2.16.1\\n' > /usr/local/sbin/modinfo; chmod 755 /usr/local/sbin/modinfo"


def test_appliance_723_lustre_is_installed_alone_from_the_configured_source(hosts: Storage) -> None:
    """The role works without any other role on the host."""
    packages = publish(hosts.lab)
    hosts.run(CLIENT, MODINFO)
    lustre: dict[str, Any] = {
        "lustre_client_mounts": [FAST],
        "lustre_client_networks": "o2ib(ib0)",
        "lustre_client_repository": {
            "uris": packages.address(OPERATORS, "lustre"),
            "signed_by": packages.key,
        },
    }
    plays = [{"hosts": CLIENT, "roles": ["lustre_client"]}]
    assert hosts.play(plays, **lustre).good().changed[CLIENT] > 0
    assert f"{FAST['source']} /fast" in hosts.run(CLIENT, "cat /proc/mounts")
    assert "noatime,flock,nosuid,nodev" in hosts.run(CLIENT, "cat /etc/systemd/system/fast.mount")
    assert 'networks="o2ib(ib0)"' in hosts.run(CLIENT, "cat /etc/modprobe.d/lustre-client.conf")
    assert "2.16.1-1" in hosts.run(CLIENT, "dpkg-query -W lustre-client-modules-dkms")
    assert hosts.play(plays, "--diff", **lustre).good().changed[CLIENT] == 0
    # An existing mount is not replaced, and files in a folder are not hidden.
    hosts.run(CLIENT, "mkdir /full; touch /full/mine")
    others = [{**FAST, "source": "10.48.9.1@o2ib:/other"}, {**FAST, "mount": "/full"}]
    refused = hosts.play(plays, **{**lustre, "lustre_client_mounts": others})
    assert refused.code != 0 and f"/fast is where {FAST['source']} is mounted" in refused.one_line
    assert "/full holds 1 entries that would be hidden" in refused.one_line
    assert FAST["source"] in hosts.run(CLIENT, "cat /etc/systemd/system/fast.mount; ls /full/mine")


#: File that the stand-in of the Deep Learning AMI's service makes in place of an LVM volume.
TAKEN = "/var/lib/dlami-nvme-ran"


@pytest.fixture(scope="module")
def node(hosts: Storage) -> Storage:
    """Configure the client as a node: with mounts at boot, and health checks. Its image is a Deep Learning AMI."""
    unit = f"[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=touch {TAKEN}\\n"
    unit += "[Install]\\nWantedBy=multi-user.target\\n"
    hosts.run(CLIENT, f"printf '{unit}' > /etc/systemd/system/dlami-nvme.service; systemctl enable dlami-nvme")
    health = {"node_health_expected": {"mounts": ["/home", "/fast"]}, "node_health_started": False}
    configured = hosts.play(
        [{"hosts": CLIENT, "roles": ["cloud_storage", "slurm_job_environment", "node_health"]}], **health
    )
    assert configured.good().changed[CLIENT] > 0
    return hosts


@pytest.mark.usefixtures("node")
def test_a_cloud_node_mounts_what_its_pool_has_before_slurmd_starts(hosts: Storage) -> None:
    """The program runs in its unit, as at a boot; with a real server, and the stand-in of Lustre's client."""
    pool = {
        "mounts": [
            {
                "source": f"{SERVER}:{EXPORT}",
                "type": "nfs",
                "options": "vers=4.2,hard,nosuid,nodev",
                "mount": "/data/sets",
            },
            {"source": "fs-1.fsx@tcp:/abc", "type": "lustre", "options": "noatime,flock,_netdev", "mount": "/scratch"},
        ],
        "scratch": None,
    }
    hosts.run(CLIENT, f"echo '{json.dumps(pool)}' > /etc/landbridge/pool.json; systemctl start landbridge-storage")
    mounts = hosts.run(CLIENT, "cat /proc/mounts")
    assert f"{SERVER}:{EXPORT} /data/sets " in mounts and "fs-1.fsx@tcp:/abc /scratch " in mounts
    order = hosts.run(CLIENT, "systemctl show landbridge-storage -P Before")
    assert "slurmd.service" in order
    # If a file system cannot be mounted, the unit fails and slurmd does not start; the log contains the reason.
    pool["mounts"] = [{"source": "nowhere", "type": "lustre", "options": "noatime", "mount": "/other"}]
    hosts.run(CLIENT, f"echo '{json.dumps(pool)}' > /etc/landbridge/pool.json")
    hosts.run(
        CLIENT, "sed -i 's/^PATIENCE, PAUSE = .*/PATIENCE, PAUSE = 0, 0/' /opt/landbridge/bin/landbridge-node-storage"
    )
    assert (
        hosts.run(CLIENT, "systemctl restart landbridge-storage 2>/dev/null; systemctl is-failed landbridge-storage")
        == "failed"
    )
    assert "nowhere cannot be mounted on /other" in hosts.run(CLIENT, "journalctl -u landbridge-storage -o cat")


@pytest.mark.usefixtures("node")
def test_dlami_the_service_of_the_parent_image_never_takes_the_instance_store(hosts: Storage) -> None:
    hosts.run(CLIENT, "systemctl restart dlami-nvme")
    assert hosts.run(CLIENT, f"test ! -e {TAKEN}; systemctl is-active dlami-nvme || true") == "inactive"


@pytest.mark.usefixtures("node")
def test_deepops_703_a_healthy_node_is_not_drained_for_services_that_it_does_not_need(hosts: Storage) -> None:
    """NFS 4 needs neither rpcbind nor rpc.statd. The check covers the node's mounts only."""
    hosts.run(CLIENT, "systemctl stop rpcbind.socket rpcbind rpc-statd 2>/dev/null; true")
    check = "/opt/landbridge/bin/landbridge-node-health check; /opt/landbridge/bin/landbridge-node-health show"
    assert json.loads(hosts.run(CLIENT, f"{{ {check}; }} 2>/dev/null"))["problems"] == []
    # A user without permissions sees the last results, and starts no check.
    seen = hosts.run(CLIENT, "runuser -u alice -- /opt/landbridge/bin/landbridge-node-health show")
    assert json.loads(seen)["problems"] == []
    hosts.run(CLIENT, "umount /fast")
    (problem,) = json.loads(hosts.run(CLIENT, f"{{ {check}; }} 2>/dev/null"))["problems"]
    assert (problem["check"], problem["detail"]) == ("mount", "/fast is not mounted")
