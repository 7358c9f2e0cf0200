"""Snapshot of a machine: files, units, packages, accounts, network settings and packet filter; and the differences of two of them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

#: Program on the machine: prints the snapshot as JSON. Contents are digests; an environment of Python counts as its pyvenv.cfg.
PROGRAM = r"""#!/usr/bin/python3
import glob, hashlib, json, os, re, shutil, subprocess
FOLDERS = ("/etc", "/home", "/opt", "/root", "/srv", "/usr/local")
NAMES = ("/usr/bin", "/usr/sbin", "/usr/lib/systemd/system")
PASSED = {"/root/.ansible", "/root/digests", "/etc/ld.so.cache", "/etc/.pwd.lock"}
BESIDE = {"/etc/" + n + e for n in ("passwd", "group", "shadow", "gshadow", "subuid", "subgid") for e in ("", "-")}

def run(*words):
    if shutil.which(words[0]) is None:
        return ""
    done = subprocess.run(words, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""

def described(path):
    state = os.lstat(path)
    if os.path.islink(path):
        return "-> " + os.readlink(path)
    with open(path, "rb") as file:
        return f"{hashlib.file_digest(file, 'sha256').hexdigest()} {state.st_mode & 0o7777:o} {state.st_uid}:{state.st_gid}"

files = {}
for folder in FOLDERS:
    for root, folders, names in os.walk(folder):
        if "pyvenv.cfg" in names:
            folders[:], names = [], ["pyvenv.cfg"]
        if root in PASSED or "__pycache__" in root:
            folders[:] = []
            continue
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]
        for name in names + links:
            path = os.path.join(root, name)
            if path not in PASSED | BESIDE and (os.path.islink(path) or os.path.isfile(path)):
                files[path] = described(path)
for folder in NAMES:
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if not os.path.isdir(path):
            files[path] = described(path) if os.path.islink(path) else str(os.lstat(path).st_size)

packages = {}
for line in run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n").splitlines():
    status, name, version = line.split()
    if status == "installed":
        packages[name] = version
owned = {}
for path in glob.glob("/var/lib/dpkg/info/*.list"):
    package = os.path.basename(path)[:-5].partition(":")[0]
    for line in open(path).read().splitlines():
        line = re.sub("^/(bin|sbin|lib)/", r"/usr/\1/", line)
        if line in files:
            owned[line] = package

enabled = {}
for line in run("systemctl", "list-unit-files", "--no-legend", "--plain", "--type=service,timer,socket,path,mount").splitlines():
    name, state, *_ = line.split()
    if state in ("enabled", "disabled", "masked", "static"):
        enabled[name] = state
running = []
for line in run("systemctl", "list-units", "--no-legend", "--plain", "--type=service,timer,socket,path,mount").splitlines():
    name, _, _, state, *_ = line.split()
    if state in ("running", "listening", "waiting", "mounted"):
        running.append(name)

network = {}
for root, _, names in os.walk("/proc/sys/net"):
    for name in names:
        try:
            with open(os.path.join(root, name)) as file:
                network[os.path.join(root, name)[len("/proc/sys/"):]] = file.read().strip()
        except OSError:
            pass
tables = {}
for line in run("nft", "list", "tables").splitlines():
    tables[line[len("table "):]] = run("nft", "-s", "list", *line.split())
print(json.dumps({
    "files": files, "owned": owned, "packages": packages,
    "manual": run("apt-mark", "showmanual").split(), "held": run("apt-mark", "showhold").split(),
    "enabled": enabled, "running": running, "network": network, "tables": tables,
    "accounts": [line for name in ("passwd", "group", "subuid", "subgid") for line in open("/etc/" + name).read().splitlines()],
}))
"""
#: Units that systemd itself starts and stops: timers of the distribution, logins, and services that run once at each start of the timer.
OF_THE_SYSTEM = (
    "apt-daily*",
    "dpkg-db-backup*",
    "e2scrub*",
    "fstrim*",
    "logrotate*",
    "man-db*",
    "session-*",
    "systemd-ask-password*",
    "systemd-fsck*",
    "systemd-hostnamed*",
    "systemd-localed*",
    "systemd-timedated*",
    "systemd-tmpfiles*",
    "systemd-udevd*",
    "user@*",
    "user-runtime-dir@*",
    "run-user-*",
    "run-credentials-*",
    "dbus*",
    "getty@*",
    "console-getty*",
    "ssh@*",
    "ssh.*",
    "sshd*",
)
#: Links that belong to a unit or to a package, and files that packages' programs write for all packages.
DERIVED = (
    "/etc/alternatives/*",
    "/etc/rc?.d/*",
    "/etc/mailcap",
    "/etc/ssl/certs/*",
    "/etc/ca-certificates*",
    "/etc/systemd/system/*.wants/*",
    "/etc/systemd/system/*.requires/*",
    "/etc/systemd/system/dbus-*",
    # A program of the lab instead of the package's.
    "/usr/sbin/mount.nfs*.kernel",
)
#: Counters, values of connections, and a key that the kernel makes for its first listener with TCP Fast Open.
COUNTERS = (
    "net/netfilter/nf_conntrack_count",
    "net/ipv4/tcp_fastopen_key",
    "net/*/neigh/*",
    "net/*/conf/*",
    "net/ipv*/route/*",
    "net/*random*",
)


@dataclass(frozen=True)
class Snapshot:
    """State of the machine at a time."""

    data: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str) -> "Snapshot":
        return cls(json.loads(text))


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """Return the keys whose values differ, among them those that one of the mappings lacks."""
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


def _of(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def differences(first: Snapshot, last: Snapshot) -> dict[str, set[str]]:
    """Return what differs, by kind. Files and accounts that existed are `changed`; consequences of an installed package are left out.

    A package that apt added as a dependency is a consequence of the packages that need it. A file of such a package is one too, if it is new.
    """
    before, after = first.data, last.data
    new = set(after["packages"]) - set(before["packages"])
    files = {
        path
        for path in _changed(before["files"], after["files"])
        if not _of(path, DERIVED)
        and not (path not in before["files"] and after["owned"].get(path) in new)
        and not after["files"].get(path, "").startswith("-> /etc/alternatives/")
    }
    # An upgrade of a package changes its own files; the upgrade itself is reported.
    upgraded = {name for name in _changed(before["packages"], after["packages"]) if name not in new}
    files -= {path for path in files if after["owned"].get(path, before["owned"].get(path)) in upgraded}
    states = {name for name in _changed(before["enabled"], after["enabled"]) if not _of(name, OF_THE_SYSTEM)}
    of_packages = {
        path.rpartition("/")[2]
        for path, package in after["owned"].items()
        if package in new and path.startswith("/usr/lib/systemd/system/")
    }
    running = {name for name in set(before["running"]) ^ set(after["running"]) if not _of(name, OF_THE_SYSTEM)}
    accounts = set(after["accounts"]) - set(before["accounts"])
    return {
        "files": {path for path in files if path not in before["files"]},
        "changed": {path for path in files if path in before["files"]},
        "packages": (set(after["manual"]) - set(before["manual"])) & new | upgraded,
        "held": set(before["held"]) ^ set(after["held"]),
        "units": {name for name in states if name not in of_packages} | running,
        "accounts": {line.partition(":")[0] for line in accounts},
        "accounts changed": {line.partition(":")[0] for line in set(before["accounts"]) - set(after["accounts"])},
        "network": {
            name
            for name in _changed(before["network"], after["network"])
            if not _of(name, COUNTERS) or name.endswith("forward")
        },
        "tables": _changed(before["tables"], after["tables"]),
    }


def undeclared(seen: Mapping[str, set[str]], names: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the differences that a role's names do not contain, by kind; names may be patterns."""
    sources = {
        "files": ("files",),
        "changed": ("files", "shared"),
        "packages": ("packages",),
        "held": ("packages", "held"),
        "units": ("units",),
        "accounts": ("accounts",),
        "accounts changed": ("accounts shared",),
        "network": ("network",),
        "tables": ("tables",),
    }
    left = {
        kind: sorted(
            name
            for name in values
            if not _of(name, tuple(pattern for source in sources[kind] for pattern in names.get(source, ())))
        )
        for kind, values in seen.items()
    }
    return {kind: values for kind, values in left.items() if values}
