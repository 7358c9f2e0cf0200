"""Base image: a small Debian 13 that boots in under a second, addressed by the hash of its inputs."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import disk, shell
from sandbox.nspawn.host.apt_sources import STABLE, TESTING, Archives, archives
from sandbox.nspawn.host.package_cache import Cache, http_address
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.progress import Report, silent, step

_FILES = files("sandbox.nspawn.machine") / "files"
_TUNING = ("tune-base.sh", "mount.nfs", "cgroup-v1.service", "cgroup-v1-writable")

# fmt: off
INCLUDED = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "python3-venv", "iproute2",
    "iputils-ping", "ca-certificates", "sudo", "kmod", "udev", "netbase", "less", "procps", "curl", "nftables",
    # The NFS stand-in's (files/mount.nfs).
    "fuse3", "python3-fusepy", "libnfs14",
)
# fmt: on


@dataclass(frozen=True)
class LabImage:
    """A stack of read-only trees, topmost first; its own tree is the first one."""

    id: str
    layers: tuple[Path, ...]


@dataclass(frozen=True)
class _Record:
    """Content of image.json: the layers below, by id, and the sources of the image."""

    below: tuple[str, ...]
    source: str


def find(lab: Layout, name: str) -> LabImage | None:
    """The image of that name or id; None when it was never built or one of its layers is gone."""
    tag = lab.images / "tags" / name
    image_id = tag.read_text().strip() if tag.exists() else name
    record = lab.images / image_id / "image.json"
    if not record.exists():
        return None
    below = json.loads(record.read_text())["below"]
    layers = tuple(lab.images / layer / "rootfs" for layer in (image_id, *below))
    return LabImage(image_id, layers) if all(layer.is_dir() for layer in layers) else None


def need(lab: Layout, name: str) -> LabImage:
    image = find(lab, name)
    if image is None:
        raise LabError(f"there is no image '{name}'", "landbridge sandbox up builds the images")
    return image


def publish(
    lab: Layout, image_id: str, tree: Path, below: Sequence[str], source: str, tags: Sequence[str] = ()
) -> LabImage:
    """Make a finished folder (with `rootfs/` in it) the image `image_id`, at once or not at all, and point `tags` at it."""
    record = _Record(tuple(below), source)
    (tree / "image.json").write_text(json.dumps(asdict(record), indent=1))
    target = lab.images / image_id
    if target.exists():
        shutil.rmtree(tree)
    else:
        tree.rename(target)
    for name in tags:
        tag(lab, name, image_id)
    return need(lab, image_id)


def tag(lab: Layout, name: str, image_id: str) -> None:
    folder = lab.images / "tags"
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{name}.new"
    temporary.write_text(image_id)
    temporary.replace(folder / name)


def remove(lab: Layout, name: str) -> None:
    """Remove a tag, and its image unless a node or another image needs it."""
    with locked(lab.images / "lock"):
        image = find(lab, name)
        (lab.images / "tags" / name).unlink(missing_ok=True)
        if image and image.id not in _needed(lab):
            shutil.rmtree(lab.images / image.id)


def prune(lab: Layout, unused_for: float = 86_400) -> list[str]:
    """Remove images that nothing needs and that no node has booted from for so many seconds; returns their ids.

    The grace is for nodes that cannot be seen from here, under another state folder.
    """
    with locked(lab.images / "lock"):
        kept = _needed(lab)
        limit = time.time() - unused_for
        doomed = [
            record.parent
            for record in lab.images.glob("*/image.json")
            if record.parent.name not in kept and record.stat().st_mtime <= limit
        ]
        for path in doomed:
            shutil.rmtree(path)
    return [path.name for path in doomed]


def _needed(lab: Layout) -> set[str]:
    """Return the images in use: with a tag, of a node of this user's labs, and the layers below them."""
    roots = {path.read_text().strip() for path in (lab.images / "tags").glob("[!.]*")}
    roots |= {json.loads(path.read_text())["image"] for path in lab.state.parent.glob("*/nodes/*/node.json")}
    images = [image for image in (find(lab, name) for name in roots) if image]
    return {layer.parent.name for image in images for layer in image.layers}


def touch(image: LabImage) -> None:
    """Note that the image is in use now."""
    for layer in image.layers:
        (layer.parent / "image.json").touch()


def base_id(found: Archives) -> str:
    """The base image's id: a hash over the package list, the archives, the tuning and the host's certificates."""
    parts = [*INCLUDED, found.main, found.security or "", STABLE, TESTING, os.uname().machine]
    parts += [(_FILES / name).read_text() for name in _TUNING]
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    parts.append(bundle.read_text() if bundle.exists() else "")
    return "base-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def ensure_base(lab: Layout, cache: Cache, report: Report = silent) -> LabImage:
    """The base image, built when no image of its hash is there yet. Tagged `base`."""
    found = archives()
    image_id = base_id(found)
    with locked(lab.images / "lock"):
        if find(lab, image_id) is None:
            disk.need(lab.images, 1500, "the base image")
            with step(report, f"building the base image (Debian {STABLE})"):
                _build(lab, image_id, found, cache)
        tag(lab, "base", image_id)
    return need(lab, image_id)


def sources(found: Archives) -> str:
    """apt's sources of a node: its own release, and testing for packages pinned to it."""
    main = http_address(found.main)
    lines = [f"deb {main} {STABLE} main", f"deb {main} {STABLE}-updates main"]
    if found.security:
        lines.append(f"deb {http_address(found.security)} {STABLE}-security main")
    # A mirror's copy of testing may be older than its own expiry date says it should be.
    lines.append(f"deb [check-valid-until=no] {main} {TESTING} main")
    return "\n".join(lines) + "\n"


def _build(lab: Layout, image_id: str, found: Archives, cache: Cache) -> None:
    work = lab.images / f".{image_id}.{os.getpid()}"
    discard(work)
    tree = work / "rootfs"
    work.mkdir(parents=True)
    scratch = work / "files"
    scratch.mkdir()
    for name in _TUNING:
        (scratch / name).write_text((_FILES / name).read_text())
        (scratch / name).chmod(0o755)
    (scratch / "sources.list").write_text(sources(found))
    (scratch / "pin").write_text(f"Package: *\nPin: release n={TESTING}\nPin-Priority: 100\n")
    stable = "".join(line + "\n" for line in sources(found).splitlines() if TESTING not in line)
    options = [
        f'Acquire::http::Proxy "{cache.url}"',
        'Acquire::Languages "none"',
        'Acquire::Check-Valid-Until "false"',
        'APT::Install-Recommends "false"',
    ]
    unpack = ["force-unsafe-io", *(f"path-exclude=/usr/share/{what}/*" for what in ("doc", "man", "locale"))]
    try:
        shell.run(
            [
                "mmdebstrap",
                "--variant=minbase",
                "--mode=root",
                "--skip=check/empty,cleanup/apt",
                *(f"--aptopt={option}" for option in options),
                *(f"--dpkgopt={option}" for option in unpack),
                f"--include={','.join(INCLUDED)}",
                f'--customize-hook={scratch}/tune-base.sh "$1" {scratch} {cache.url}',
                STABLE,
                tree,
                "-",
            ],
            stdin=stable,
            timeout=1200,
        )
        shutil.rmtree(scratch)
        publish(lab, image_id, work, (), f"mmdebstrap {STABLE}")
    except BaseException:
        discard(work)
        raise


def discard(tree: Path) -> None:
    """Remove a half-built tree, mounts that an interrupted builder left in it included."""
    if not tree.exists():
        return
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(f"{tree}/")), reverse=True):
        shell.run(["umount", "--lazy", mount], check=False)
    shutil.rmtree(tree)
