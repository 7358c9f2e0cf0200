"""Lab with one machine that its owner configured without Landbridge, and the files of a site with its own inventory."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.network import netns
from sandbox.nspawn.site import Machine, plan

ROOT = Path(__file__).parents[4]

#: Name and address of the machine in docs/how-to/use-single-roles.md.
HOST, ADDRESS = "gpu01", "10.20.1.21"
ONPREM, CLOUD = IPv4Network("10.20.0.0/16"), IPv4Network("10.60.0.0/16")
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS),))
#: The same machine with GPUs and a disk.
GPU_SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS, gpus=8, platform="dgx-h100", storage=True),))
#: Settings of the owner, by path: each place into which a role writes a file, and each file that roles share with an owner.
OWNERS_FILES = {
    "/etc/apt/preferences.d/site": "Package: nothing\nPin: release *\nPin-Priority: -1\n",
    "/etc/apt/sources.list.d/site.sources": (
        "Types: deb\nURIs: file:/srv/packages\nSuites: ./\nTrusted: yes\n# of the site\n"
    ),
    "/etc/chrony/chrony.conf": "server ntp1.example.org iburst\nmakestep 1 3\n",
    "/etc/containers/containers.conf.d/10-site.conf": "[engine]\n",
    "/etc/containers/storage.conf": '[storage]\ndriver = "overlay"\nrootless_storage_path = "/fast/$UID"\n',
    "/etc/default/slurmd": 'SLURMD_OPTIONS="-v"\n',
    # The site's own mirrors are reached without the proxy.
    "/etc/environment": 'http_proxy="http://proxy.example.org:3128"\nno_proxy="10.20.0.254,localhost,127.0.0.1"\n',
    "/etc/exports": "/srv/data 10.20.0.0/16(ro,no_subtree_check)\n",
    "/etc/fstab": "filer01:/tools /opt/tools nfs noauto 0 0\n",
    "/etc/landbridge-of-the-site/README": "not a folder of any role\n",
    "/etc/modprobe.d/site.conf": "blacklist nouveau\n",
    "/etc/modules-load.d/site.conf": "# none\n",
    "/etc/nftables.conf": "#!/usr/sbin/nft -f\ntable inet site { chain input { type filter hook input priority 5; } }\n",
    "/etc/profile.d/site.sh": "export SITE=physics\n",
    "/etc/security/limits.d/10-site.conf": "@staff - nofile 65536\n",
    "/etc/ssh/sshd_config.d/50-site.conf": "GSSAPIAuthentication yes\n",
    "/etc/sysctl.d/10-site.conf": "kernel.sysrq = 0\n",
    "/etc/systemd/journald.conf.d/50-site.conf": "[Journal]\nMaxLevelStore=info\n",
    "/etc/systemd/system/site.service": "[Service]\nType=oneshot\nExecStart=/bin/true\nRemainAfterExit=yes\n",
    "/etc/tmpfiles.d/site.conf": "d /run/site\n",
    "/opt/site/bin/tool": "#!/bin/sh\n",
    "/usr/local/bin/site-tool": "#!/bin/sh\n",
}
#: Settings of services that the owner runs, each of which a role would replace or use.
SERVICES_FILES = {
    "/etc/haproxy/haproxy.cfg": "defaults\n  timeout client 5s\n  timeout server 5s\n  timeout connect 5s\nlisten site\n  bind 127.0.0.1:8081\n",
    "/etc/prometheus/prometheus.yml": "# of the site\nglobal: {scrape_interval: 60s}\n",
    "/etc/default/prometheus-node-exporter": 'ARGS="--web.listen-address=127.0.0.1:9101"\n',
    "/etc/systemd/system/systemd-journal-remote.service.d/site.conf": (
        "[Service]\nExecStart=\nExecStart=/usr/lib/systemd/systemd-journal-remote --listen-http=-3 --output=/var/log/journal/remote/\n"
    ),
    "/etc/frr/frr.conf": "! of the site\nrouter bgp 65099\n neighbor 10.20.0.9 remote-as 65098\n",
    "/etc/ganesha/ganesha.conf": "# of the site\nEXPORT { Export_Id = 1; Path = /srv; Pseudo = /srv; FSAL { Name = VFS; } }\n",
    "/etc/sssd/sssd.conf": "[sssd]\nservices = nss, pam\ndomains = physics\n\n[domain/physics]\nid_provider = ldap\nldap_uri = ldaps://ldap.example.org\n",
    "/etc/slurm/slurm.conf": "# physics, since 2021\nClusterName=physics\nSlurmctldHost=head\n",
    "/etc/slurm/slurmdbd.conf": "# physics, since 2021\nDbdHost=head\nStorageType=accounting_storage/mysql\n",
}
OWNERS_SERVICES = """set -e
export DEBIAN_FRONTEND=noninteractive
printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
apt-get -q install -y --no-install-recommends git frr haproxy munge nfs-ganesha prometheus prometheus-alertmanager \
  prometheus-node-exporter sssd-ldap systemd-journal-remote >/dev/null 2>&1
rm /usr/sbin/policy-rc.d
systemctl enable -q --now systemd-journal-remote.socket munge haproxy prometheus-node-exporter
"""
#: Its own account and table of rules, and a name that an installer has put on a loopback address.
OWNERS_COMMANDS = f"""set -e
mkdir -p /srv/packages && cd /srv/packages
printf 'Package: nvidia-open\\nVersion: 570.1\\nArchitecture: all\\nFilename: x.deb\\nSize: 1\\n' > Packages
printf 'Origin: NVIDIA\\nLabel: NVIDIA CUDA\\nSHA256:\\n %s %s Packages\\n' \\
  $(sha256sum Packages | cut -d' ' -f1) $(stat -c %s Packages) > Release
groupadd --gid 3000 physics
useradd --uid 3001 --gid 3000 --shell /bin/sh --create-home kim
printf '10.20.9.1 filer01\\n127.0.1.1 {HOST}.example.org {HOST}\\n' >> /etc/hosts
systemctl daemon-reload && systemctl start site
"""
#: Program on the machine: digests of files below these folders, the owner's processes and rules.
DIGEST = r"""#!/bin/sh
find /etc /opt /srv /home /root /usr/local \( -path /root/.ansible -o -path /root/digests -o -path /etc/ld.so.cache \) -prune -o -type f -print0 |
  xargs -0 sha256sum | sed 's/^\([0-9a-f]*\)  /\1 /'
find /etc /opt /usr/local -type l -printf '%l %p\n'
echo "$(systemctl is-active site) site.service"
"""


@dataclass(frozen=True)
class ForeignSite:
    """The machine, and the folder above the site's files."""

    lab: Layout
    folder: Path

    def on_host(self, command: str) -> str:
        """Run a command on the machine and return its output."""
        completed = self.result(command)
        assert completed.returncode == 0, f"{command}: {completed.stderr}{completed.stdout}"
        return completed.stdout

    def result(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the machine, which may fail."""
        return nodes.exec(self.lab, HOST, [command])

    def put(self, path: str, text: str, mode: str = "644") -> None:
        self.on_host(f"mkdir -p $(dirname {path}) && cat > {path} <<'END'\n{text}END\nchmod {mode} {path}")

    def remove_driver(self) -> None:
        """Remove the driver of the lab's hardware with Fabric Manager's unit: a machine as it is delivered has none."""
        unit = "nvidia-fabricmanager.service"
        self.on_host(
            'sed -i \'s/"driver": .*/"driver": null,/\' /usr/local/lib/lab/hardware/machine.json && '
            f"systemctl stop {unit} && rm /usr/lib/systemd/system/{unit} /etc/systemd/system/multi-user.target.wants/{unit} && systemctl daemon-reload"
        )

    def make(self) -> None:
        """Configure the machine as its owner, and copy the collection's source."""
        shutil.copytree(ROOT / "ansible", self.folder / "ansible", symlinks=True)
        for link in [path for path in (self.folder / "ansible").rglob("*") if path.is_symlink() and not path.exists()]:
            # A program that a role shares with Landbridge: the archive has a copy.
            original = (ROOT / link.relative_to(self.folder)).resolve()
            link.unlink()
            shutil.copy2(original, link)
        for path, text in OWNERS_FILES.items():
            self.put(path, text)
        self.on_host(OWNERS_COMMANDS)
        self.put("/usr/local/sbin/digest", DIGEST, "755")

    def make_services(self) -> None:
        """Install and start the owner's services."""
        self.on_host(OWNERS_SERVICES)
        for path, text in SERVICES_FILES.items():
            self.put(path, text)
        self.on_host("systemctl daemon-reload && systemctl restart haproxy prometheus-node-exporter")

    def command(self, command: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
        """Run a command of the site's operator in the lab's network, with the lab's key."""
        return subprocess.run(
            ["nsenter", f"--net={netns.FOLDER / self.lab.netns}", "bash", "-c", command],
            cwd=self.folder / folder,
            env=self._variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def _variables(self) -> dict[str, str]:
        """Return the variables of the operator: none of this checkout's settings, and no Mitogen, which knows no collections."""
        others = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        return {
            **others,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ANSIBLE_PRIVATE_KEY_FILE": str(self.lab.private_key),
            "ANSIBLE_SSH_COMMON_ARGS": "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.folder / "cp"),
            "ANSIBLE_HOST_KEY_CHECKING": "false",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_PIPELINING": "true",
        }
