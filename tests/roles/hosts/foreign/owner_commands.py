"""Commands of the machine's owner before a role: sources, a disk and programs that a machine with hardware has."""

import base64

from tests.roles.jobs.spank_plugin import plugin

_SOURCES = """set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
"""
NCCL = f"""{_SOURCES}
mkdir -p /usr/local/cuda/bin && printf '#!/bin/sh\\n' > /usr/local/cuda/bin/nvcc && chmod +x /usr/local/cuda/bin/nvcc
printf '#!/bin/sh\\nprintf "all:\\\\n\\\\tprintf x > nvbandwidth\\\\n" > Makefile\\n' > /usr/local/bin/cmake && chmod +x /usr/local/bin/cmake
for name in nccl nvbandwidth; do
  git init -q -b main /srv/$name && cd /srv/$name
  printf 'all:\\n\\tmkdir -p $(BUILDDIR)\\n\\tprintf x > $(BUILDDIR)/all_reduce_perf\\n' > Makefile
  git add . && git commit -qm one
done
"""
EFS = f"""{_SOURCES}
git init -q -b main /srv/efs-utils && cd /srv/efs-utils && mkdir -p src/mount_efs src/watchdog src/efs_utils_common dist
printf '#!/bin/sh\\necho lab\\n' > src/mount_efs/__init__.py && echo > src/mount_efs/dns_resolver.py
echo > src/efs_utils_common/__init__.py
for name in src/watchdog/__init__.py dist/amazon-efs-mount-watchdog.service dist/efs-utils.crt dist/efs-utils.conf; do echo > $name; done
git add . && git commit -qm one
"""
#: Ubuntu's name, for the role that NVIDIA's packages for Debian do not exist for; Debian's own file is a link.
UBUNTU = 'rm -f /etc/os-release; printf \'NAME="Ubuntu"\\nVERSION_ID="24.04"\\nVERSION_CODENAME=noble\\nID=ubuntu\\nID_LIKE=debian\\n\' > /etc/os-release'
DEBIAN = "ln -sf ../usr/lib/os-release /etc/os-release"
#: The stand-in of pyxis's package has no plugin.
PYXIS = f"""mkdir -p /usr/lib/x86_64-linux-gnu/slurm
echo {base64.b64encode(plugin("pyxis", "24.11")).decode()} | base64 -d > /usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so
"""
#: A container has no disk: the file system is made in a file, and the mount is a tmpfs.
DISK = """truncate -s 64M /disk
cat > /usr/local/sbin/mount <<'END'
#!/bin/sh
[ "$2" = ext4 ] || exec /usr/bin/mount "$@"
exec /usr/bin/mount -t tmpfs -o noatime "$5" "$6"
END
chmod 755 /usr/local/sbin/mount
"""

#: Files of a Slurm that runs already, and their places after the owner has moved them, as the refusals say.
MOVED = {path: f"/srv/former{path}" for path in ("/etc/default/slurmd", "/etc/slurm/slurmdbd.conf")}


def move(path: str) -> str:
    """Return the owner's command that moves a file."""
    return f"install -D --mode=600 {path} {MOVED[path]} && rm {path}"
