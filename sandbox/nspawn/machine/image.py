"""Images of lab nodes; ids are hashes of the inputs. The base image, a small Debian 13, boots in under a second."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from landbridge.catalog import slurm_archive
from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import disk, shell
from sandbox.nspawn.host.apt_sources import STABLE, TESTING, Archives, archives
from sandbox.nspawn.host.package_cache import Cache, http_address
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.locks import locked
from sandbox.nspawn.progress import Report, silent, step

_FILES = files("sandbox.nspawn.machine") / "files"
_TUNING = ("tune-base.sh", "small-lists.py", "mount.nfs", "cgroup-v1.service", "cgroup-v1-writable")

# fmt: off
INCLUDED = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "python3-venv", "iproute2",
    "iputils-ping", "ca-certificates", "sudo", "kmod", "udev", "netbase", "less", "procps", "curl", "nftables",
    # For the stand-in of the NFS client (files/mount.nfs).
    "fuse3", "python3-fusepy", "libnfs14",
)
# fmt: on


@dataclass(frozen=True)
class LabImage:
    """Stack of read-only trees, topmost first; the first is the tree of this image."""

    id: str
    layers: tuple[Path, ...]


@dataclass(frozen=True)
class _Record:
    """Content of image.json: the layers below, by id, and the sources of the image."""

    below: tuple[str, ...]
    source: str


def find(lab: Layout, name: str) -> LabImage | None:
    """Return the image of a tag or id; None if it was never built or lacks one of its layers."""
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
    """Publish a complete folder (with `rootfs/` in it) as image `image_id` in one atomic step, and set `tags` to it."""
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
    """Remove unneeded images from which no node has booted for `unused_for` seconds; return their ids.

    The delay protects images of nodes under another state folder, which this process does not see.
    """
    with locked(lab.images / "lock"):
        needed = _needed(lab)
        limit = time.time() - unused_for
        unused = [
            record.parent
            for record in lab.images.glob("*/image.json")
            if record.parent.name not in needed and record.stat().st_mtime <= limit
        ]
        for path in unused:
            shutil.rmtree(path)
    return [path.name for path in unused]


def _needed(lab: Layout) -> set[str]:
    """Return the ids of images in use: with a tag, of a node of this user's labs, and the layers below them."""
    roots = {path.read_text().strip() for path in (lab.images / "tags").glob("[!.]*")}
    roots |= {json.loads(path.read_text())["image"] for path in lab.state.parent.glob("*/nodes/*/node.json")}
    images = [image for image in (find(lab, name) for name in roots) if image]
    return {layer.parent.name for image in images for layer in image.layers}


def touch(image: LabImage) -> None:
    """Record that the image is in use now."""
    for layer in image.layers:
        (layer.parent / "image.json").touch()


def base_id(debian_archives: Archives) -> str:
    """Return the base image's id: a hash of package list, archives, tuning and the host's certificates."""
    parts = [*INCLUDED, debian_archives.main, debian_archives.security or "", STABLE, TESTING, os.uname().machine]
    parts += slurm_archive().packages
    parts += [(_FILES / name).read_text() for name in _TUNING]
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    parts.append(bundle.read_text() if bundle.exists() else "")
    return "base-" + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def ensure_base(lab: Layout, cache: Cache, report: Report = silent) -> LabImage:
    """Return the base image; build it if no image of its hash exists. Tag it `base`."""
    debian_archives = archives()
    image_id = base_id(debian_archives)
    with locked(lab.images / "lock"):
        if find(lab, image_id) is None:
            disk.need(lab.images, 1500, "the base image")
            with step(report, f"building the base image (Debian {STABLE})"):
                _build(lab, image_id, debian_archives, cache)
        tag(lab, "base", image_id)
    return need(lab, image_id)


def sources(debian_archives: Archives) -> str:
    """Return a node's apt sources: its Debian release, and testing for packages pinned to it."""
    main = http_address(debian_archives.main)
    lines = [f"deb {main} {STABLE} main", f"deb {main} {STABLE}-updates main"]
    if debian_archives.security:
        lines.append(f"deb {http_address(debian_archives.security)} {STABLE}-security main")
    # A mirror's copy of testing may be past its Valid-Until date.
    lines.append(f"deb [check-valid-until=no] {main} {TESTING} main")
    return "\n".join(lines) + "\n"


def _build(lab: Layout, image_id: str, debian_archives: Archives, cache: Cache) -> None:
    work = lab.images / f".{image_id}.{os.getpid()}"
    discard(work)
    tree = work / "rootfs"
    work.mkdir(parents=True)
    scratch = work / "files"
    scratch.mkdir()
    for name in _TUNING:
        (scratch / name).write_text((_FILES / name).read_text())
        (scratch / name).chmod(0o755)
    (scratch / "sources.list").write_text(sources(debian_archives))
    (scratch / "pin").write_text(f"Package: *\nPin: release n={TESTING}\nPin-Priority: 100\n")
    stable_sources = "".join(line + "\n" for line in sources(debian_archives).splitlines() if TESTING not in line)
    testing = " ".join([TESTING, *slurm_archive().packages])
    apt_options = [
        f'Acquire::http::Proxy "{cache.url}"',
        'Acquire::Languages "none"',
        'Acquire::Check-Valid-Until "false"',
        'APT::Install-Recommends "false"',
    ]
    dpkg_options = ["force-unsafe-io", *(f"path-exclude=/usr/share/{folder}/*" for folder in ("doc", "man", "locale"))]
    try:
        shell.run(
            [
                "mmdebstrap",
                "--variant=minbase",
                "--mode=root",
                "--skip=check/empty,cleanup/apt",
                *(f"--aptopt={option}" for option in apt_options),
                *(f"--dpkgopt={option}" for option in dpkg_options),
                f"--include={','.join(INCLUDED)}",
                f'--customize-hook={scratch}/tune-base.sh "$1" {scratch} {cache.url} {testing}',
                STABLE,
                tree,
                "-",
            ],
            stdin=stable_sources,
            timeout=1200,
        )
        shutil.rmtree(scratch)
        publish(lab, image_id, work, (), f"mmdebstrap {STABLE}")
    except BaseException:
        discard(work)
        raise


def discard(tree: Path) -> None:
    """Remove an incomplete tree, including mounts that an interrupted build left in it."""
    if not tree.exists():
        return
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((m for m in mounts if m.startswith(f"{tree}/")), reverse=True):
        shell.run(["umount", "--lazy", mount], check=False)
    shutil.rmtree(tree)
