"""Checks of a running instance: its pool, GPUs and EFA devices."""

from node_verify.checks import check


@check("pool", "boot")
def pool(machine, expected, mode):
    if not expected.get("pool"):
        yield (
            "/etc/landbridge/pool.json is missing or names no pool",
            "start the instance from the pool's launch template, whose user data has the file",
        )


@check("gpus", "boot")
def gpus(machine, expected, mode):
    facts = hardware(machine, expected)
    if not facts.get("gpus") or not expected.get("driver"):
        return
    shown = (machine.output("nvidia-smi", "-L") or "").splitlines()
    count = len([line for line in shown if line.startswith("GPU ")])
    if count != facts["gpus"]:
        yield f"{count} of {facts['gpus']} GPUs answer", "check the kernel log; a new instance is on other hardware"
    missing = [
        name
        for name in ("nvidiactl", "nvidia-uvm", *(f"nvidia{index}" for index in range(facts["gpus"])))
        if not machine.glob([f"dev/{name}"])
    ]
    if missing:
        yield (
            f"/dev has no {', '.join(missing)}: Slurm's gres.conf names them",
            "enable nvidia-persistenced, and load nvidia-uvm at boot",
        )
    if (
        expected.get("fabric_manager")
        and (machine.output("systemctl", "is-active", "nvidia-fabricmanager") or "").strip() != "active"
    ):
        yield "Fabric Manager does not run: CUDA fails with error 802", "check journalctl -u nvidia-fabricmanager"


@check("efa-devices", "boot")
def efa_devices(machine, expected, mode):
    count, shown = hardware(machine, expected).get("efa", 0), machine.glob(["sys/class/infiniband/*"])
    if expected.get("efa") and len(shown) < count:
        yield (
            f"{len(shown)} of {count} EFA devices are present",
            "compare the launch template's interfaces with landbridge show pools",
        )


def hardware(machine, expected):
    """Return the expected hardware of the instance's type; empty if the type is not known."""
    types = expected.get("hardware", {})
    only = next(iter(types.values()), {}) if len(types) == 1 else {}
    return types.get(machine.metadata("instance-type") or "", only)
