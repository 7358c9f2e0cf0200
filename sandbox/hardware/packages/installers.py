"""Archives beside apt's: AWS's EFA installer and NVIDIA's single packages of GDRCopy, as stand-ins. Pure.

Sources: EC2 User Guide (aws-efa-installer-VERSION.tar.gz with efa_installer.sh); the installer's folders DEBS/SYSTEM/ARCHITECTURE;
packages on Ubuntu 24.04 as listed in public logs of installer 1.47; index of developer.download.nvidia.com/compute/redist/gdrcopy.
"""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from importlib.resources import files

from sandbox.hardware.packages.deb import Package

EFA_VERSION = "1.47.0"
_EPOCH = 1_700_000_000
_SYSTEMS = ("DEBIAN12", "DEBIAN13", "UBUNTU2404")
_ARCHITECTURES = ("x86_64", "aarch64")
_FI_INFO = "#!/bin/sh\necho 'provider: efa'\n"
#: Packages of the installer by folder.
_EFA = {
    "": (
        Package("libfabric1-aws", "2.4.0amzn1.0", files={"/opt/amazon/efa/lib/libfabric.so.1": ""}),
        Package("libfabric-aws-bin", "2.4.0amzn1.0", files={"/opt/amazon/efa/bin/fi_info": _FI_INFO}),
        Package("openmpi40-aws", "4.1.7-3", files={"/opt/amazon/openmpi/bin/mpirun": "#!/bin/sh\n"}),
        Package("libnccl-ofi", "1.18.0-1", files={"/opt/amazon/ofi-nccl/lib/libnccl-net-ofi.so": ""}),
        Package("efa-config", "1.18", files={"/etc/security/limits.d/01_efa.conf": "*    -    memlock    unlimited\n"}),
        Package("efa-profile", "1.7", files={"/etc/profile.d/zippy_efa.sh": "PATH=/opt/amazon/efa/bin:$PATH\n"}),
    ),
    "rdma-core": (Package("efa-lab-rdma-core", "61.0-1"),),
    "efa-driver": (Package("efa", "3.0.0-1.amzn1", files={"/usr/src/efa-3.0.0/dkms.conf": ""}),),
}


def efa_archive() -> bytes:
    """Return the installer's archive, with reproducible bytes."""
    script = (files("sandbox.hardware.packages") / "data/efa_installer.sh").read_text()
    contents: dict[str, bytes] = {
        "efa_installer.sh": script.encode(),
        "env.sh": f'EFA_INSTALLER_VERSION="{EFA_VERSION}"\n'.encode(),
    }
    for system in _SYSTEMS:
        for architecture in _ARCHITECTURES:
            for folder, packages in _EFA.items():
                place = "/".join(filter(None, ("DEBS", system, architecture, folder)))
                contents |= {f"{place}/{package.file_name}": package.archive() for package in packages}
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for path, data in sorted(contents.items()):
            entry = tarfile.TarInfo(f"aws-efa-installer/{path}")
            entry.size, entry.mtime, entry.mode = len(data), _EPOCH, 0o755 if path.endswith(".sh") else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(target.getvalue(), mtime=0)


def efa_sha256() -> str:
    """Return the archive's SHA-256."""
    return hashlib.sha256(efa_archive()).hexdigest()


def gdrcopy_files(version: str = "2.6-1", cuda: str = "13.0") -> dict[str, bytes]:
    """Return NVIDIA's files of GDRCopy for Ubuntu 24.04, by path."""
    contents: dict[str, bytes] = {}
    for folder, architecture in (("x64", "amd64"), ("aarch64", "arm64")):
        for name in ("gdrdrv-dkms", "libgdrapi"):
            path = f"CUDA {cuda}/ubuntu24_04/{folder}/{name}_{version}_{architecture}.Ubuntu24_04.deb"
            contents[path] = Package(name, version).archive()
    return contents


def installers() -> Mapping[str, bytes]:
    """Return all files, by path in the published folder."""
    archive = {f"efa/aws-efa-installer-{EFA_VERSION}.tar.gz": efa_archive()}
    return archive | {f"gdrcopy/{path}": data for path, data in gdrcopy_files().items()}
