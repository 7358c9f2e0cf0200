"""Checks of the host: Slurm, units, clock, disks, and files that must not be in an image."""

import re

from node_verify.checks import check, unit_lacks


@check("lustre")
def lustre(machine, expected, mode):
    if expected.get("lustre"):
        if not machine.module("lustre", "filename", mode):
            yield f"kernel {machine.kernel(mode)} has no module lustre", "install the Lustre client for this kernel"
        if not machine.has("mount.lustre"):
            yield "mount.lustre is missing", "install the Lustre client"


@check("efs")
def efs(machine, expected, mode):
    if expected.get("efs"):
        if not machine.has("mount.efs"):
            yield (
                "mount.efs is missing",
                "install the EFS mount helper (role efs_utils, or AWS's package amazon-efs-utils)",
            )
        elif not machine.has("efs-proxy") and not machine.has("stunnel"):
            yield "the EFS mount helper has neither efs-proxy nor stunnel", "install stunnel4"


@check("slurm")
def slurm(machine, expected, mode):
    output = (machine.output("slurmd", "-V") or "").strip()
    release = re.search(r"(\d+\.\d+)\.\d+", output)
    if release is None or release[1] != expected["release"]:
        yield (
            f"slurmd is {output or 'missing'}; the cluster has {expected['release']}",
            "install slurmd of that release",
        )


@check("units")
def units(machine, expected, mode):
    yield from unit_lacks(machine, expected.get("units", ()))


@check("files")
def files(machine, expected, mode):
    for name in expected.get("files", ()):
        if not machine.text(name).strip():
            yield (
                f"{name} is missing or empty",
                "build the image with Landbridge's roles, or copy the file from such an image",
            )


@check("health")
def health(machine, expected, mode):
    facts = expected.get("health", {})
    missing = [name for name in facts.get("files", ()) if not machine.text(name).strip()]
    if missing:
        yield (
            f"/{missing[0]} is missing: a node with a faulty GPU keeps getting jobs",
            "build the image with the role node_health",
        )
    else:
        yield from unit_lacks(machine, facts.get("units", ()))


@check("time")
def clock(machine, expected, mode):
    sources = expected.get("time", ())
    text = "\n".join(
        path.read_text(errors="replace")
        for path in machine.glob(
            [
                "etc/chrony.conf",
                "etc/chrony/**/*.conf",
                "etc/chrony/sources.d/*",
                "etc/chrony.d/*",
                "run/chrony.d/*.sources",
            ]
        )
        if path.is_file()
    )
    lines = re.findall(r"^\s*(?:server|pool|peer|refclock PHC)\s+(\S+)", text, re.M)
    if sources and not set(lines) & set(sources):
        yield (
            f"chrony has no time source of AWS ({', '.join(sources)})",
            f"write server {sources[0]} prefer iburst into /etc/chrony/sources.d/aws.sources",
        )


@check("boto3")
def boto3(machine, expected, mode):
    if machine.output("python3", "-c", "import boto3") is None:
        yield "python3 cannot import boto3; the node cannot fetch the cluster's key", "install python3-boto3"


@check("nvme")
def nvme(machine, expected, mode):
    for program in ("nvme", "mdadm") if expected.get("local_disks") else ():
        if not machine.has(program):
            yield (
                f"{program} is missing; the pool has instance store disks",
                f"install {'nvme-cli' if program == 'nvme' else program}",
            )
    for name in expected.get("disabled_services", ()) if expected.get("local_disks") else ():
        state = (machine.output("systemctl", "is-enabled", name) or "").strip()
        if state == "enabled" and not machine.text(f"etc/systemd/system/{name}.service.d/landbridge.conf"):
            yield (
                f"the image's own service {name} takes the instance store before Landbridge does",
                f"build the image with the role cloud_storage, or run systemctl disable {name}",
            )


@check("cloud-init")
def cloud_init(machine, expected, mode):
    if not machine.has("cloud-init"):
        yield (
            "cloud-init is missing; nothing grows the root file system to its volume",
            "install cloud-init and cloud-guest-utils",
        )


@check("root-volume")
def root_volume(machine, expected, mode):
    facts = expected.get("root", {})
    device = machine.metadata("block-device-mapping/root")
    if device and facts.get("device") and device.removeprefix("/dev/") not in facts["device"].removeprefix("/dev/"):
        yield (
            f"the root device is {device}, the launch template's {facts['device']}",
            f"write root_device: {device} in the pool",
        )
    columns = (machine.output("df", "--output=size,avail", "-B1", str(machine.root)) or "").split()[-2:]
    if len(columns) == 2 and columns[0].isdigit():
        size, free = (int(column) / 2**30 for column in columns)
        if free < facts.get("free_gib", 0):
            yield (
                f"the root file system has {free:.1f} GiB free of {size:.0f}; jobs and logs need {facts['free_gib']}",
                "write a larger root_volume_gib",
            )
        if mode == "boot" and size < 0.8 * facts.get("gib", 0):
            yield (
                f"the root file system has {size:.0f} GiB, its volume {facts['gib']}",
                "enable growpart and resize_rootfs of cloud-init",
            )


@check("secrets", "image")
def secrets(machine, expected, mode):
    for path in machine.glob(expected.get("secrets", ())):
        yield (
            f"/{path.relative_to(machine.root)} is in the image: every reader of the image can read it",
            "remove it before the image is created",
        )


@check("leftovers", "image")
def leftovers(machine, expected, mode):
    for path in machine.glob(expected.get("leftovers", ())):
        yield f"/{path.relative_to(machine.root)} remains from the build", "remove it before the image is created"
