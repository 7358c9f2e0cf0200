"""Multi-Instance GPU: planned GPU instances and their placement, and the variables of the role mig. Pure.

The driver chooses the numbers of instances, but it accepts a placement on the GPU. The role mig links each instance's
device files to names that depend only on the placement, so that gres.conf can be rendered from the environment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.catalog.hardware.mig import Slot, mig_profiles
from landbridge.environment import Environment, NodeGroup

#: Folder in which the role mig links an instance's device files: <GPU>/<number on the GPU>/gi and ci.
LINKS = "/run/landbridge/mig"


@dataclass(frozen=True, slots=True, order=True)
class MigInstance:
    """GPU instance: GPU `gpu` (the number of its device file), first memory slice `start`, profile."""

    gpu: int
    start: int
    profile: str


def mig_layout(group: NodeGroup) -> tuple[MigInstance, ...]:
    """Return the GPU instances of one node of the group, by GPU and placement. Raises ValueError; rules add
    the path.
    """
    platform = platforms()[group.platform]
    slots, instances, partitioned = mig_profiles(platform.gpu_model), [], set[int]()
    for part in group.mig:
        numbers = gpu_numbers(part.gpus, platform.gpus.count)
        placed = place_instances(slots, part.instances)
        for number in numbers:
            if number in partitioned:
                raise ValueError(f"GPU {number} is partitioned twice")
            if number >= platform.gpus.count:
                raise ValueError(f"there is no GPU {number}: a {group.platform} has {platform.gpus.count}")
            partitioned.add(number)
            instances += [MigInstance(number, start, profile) for start, profile in placed]
    return tuple(sorted(instances))


def gpu_numbers(text: str | None, count: int) -> tuple[int, ...]:
    """Parse a list of GPUs such as `0-3,6`; None means all of them."""
    if text is None:
        return tuple(range(count))
    numbers: list[int] = []
    for gpu_range in text.split(","):
        first, _, last = gpu_range.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return tuple(numbers)


def place_instances(slots: Mapping[str, Slot], counts: Mapping[str, int]) -> tuple[tuple[int, str], ...]:
    """Return the placements of one GPU's instances as (start, profile), by start. Raises ValueError if they do not fit.

    Largest first, each at the last start that leaves space for the others: some profiles can start only at the first
    slices.
    """
    unknown = [name for name in counts if name not in slots]
    if unknown:
        raise ValueError(
            f"there is no profile {unknown[0]}: " + (", ".join(slots) or "these GPUs cannot be partitioned")
        )
    names = [name for name, count in counts.items() for _ in range(count)]
    names.sort(key=lambda name: (-slots[name].size, len(slots[name].starts), name))
    placed = _place(slots, names, frozenset())
    if placed is None:
        layout = " + ".join(f"{count} x {name}" for name, count in counts.items())
        raise ValueError(f"{layout} do not fit on one GPU")
    return tuple(sorted(placed))


def _place(slots: Mapping[str, Slot], names: Sequence[str], occupied: frozenset[int]) -> list[tuple[int, str]] | None:
    if not names:
        return []
    slot = slots[names[0]]
    for start in reversed(slot.starts):
        slices = frozenset(range(start, start + slot.size))
        if slices.isdisjoint(occupied):
            other_placements = _place(slots, names[1:], occupied | slices)
            if other_placements is not None:
                return [(start, names[0]), *other_placements]
    return None


def gres_type(gpu: str, profile: str) -> str:
    """Return the GRES type of an instance, `h100_1g.10gb`, as in Slurm's own examples (gres.conf, MIG Management)."""
    return f"{gpu}_{profile}"


def instance_files(gpu: str, parts: Sequence[MigInstance]) -> tuple[str, ...]:
    """Return a gres.conf line without its node for each instance: the GPU, and the capability files of the instance.

    AutoDetect=nvml would give the same if Slurm is built with NVML; Debian's is not, and cloud nodes do not support it.
    Source: gres.conf(5), MultipleFiles; MIG user guide, "Device Nodes and Capabilities".
    """
    lines, numbers = [], dict[int, int]()
    for part in parts:
        number = numbers[part.gpu] = numbers.get(part.gpu, -1) + 1
        files = ",".join([f"/dev/nvidia{part.gpu}", *(f"{LINKS}/{part.gpu}/{number}/{kind}" for kind in ("gi", "ci"))])
        lines.append(f"Type={gres_type(gpu, part.profile)} MultipleFiles={files}")
    return tuple(lines)


def group_of(environment: Environment, host: str) -> NodeGroup | None:
    """Return the node group of a host."""
    return next((group for group in environment.node_groups if host in hostlist.expand(group.hosts)), None)


def mig_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return the role mig's variables of a node; empty if its GPUs are not partitioned."""
    group = group_of(environment, host)
    if group is None or not group.mig:
        return {}
    layout = mig_layout(group)
    gpus = sorted({instance.gpu for instance in layout})
    return {
        "mig_layout": {
            str(gpu): [f"{instance.profile}:{instance.start}" for instance in layout if instance.gpu == gpu]
            for gpu in gpus
        }
    }
