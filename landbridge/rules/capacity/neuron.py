"""Rules about pools of Trainium and Inferentia."""

import re
from collections.abc import Iterator

from landbridge.catalog.aws.images import image_behind
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error
from landbridge.rules.capacity.images import IMAGES
from landbridge.rules.environment_paths import PoolAt, pool_capacities, pools
from landbridge.rules.registry import rule

_NEURON = "neuron"


@rule
def neuron_image(environment: Environment) -> Iterator[Finding]:
    """A pool of Neuron types boots an image with the Neuron driver: the cluster's own images have NVIDIA's software only.

    Supported: an image of your own by its id, or a node image that is built on a Neuron DLAMI. Landbridge installs no
    Neuron driver, has no acceptance checks of it, and Slurm gets no GRES for its cores.
    Source: Neuron documentation, "Neuron DLAMI" (landbridge/catalog/images.yaml, software: neuron);
    ansible/playbooks/node_image.yml.
    """
    for owner in pools(environment):
        neuron = next(
            (
                capacity
                for capacity in pool_capacities(owner)
                if capacity.type is not None
                and capacity.type.accelerators is not None
                and capacity.type.accelerators.kind == _NEURON
            ),
            None,
        )
        if neuron is None or _has_neuron(environment, owner):
            continue
        message = f"the image of {owner.pool.name} has no Neuron driver, and {neuron.instance} has Neuron accelerators"
        fix = "write the id of your own image, or a build whose parent is a Neuron DLAMI (dlami-neuron-ubuntu-24.04)"
        related: tuple[DataPath, ...] = (neuron.instance_path, IMAGES)
        yield error(owner.at("image"), message, fix=fix, related=related)


def _has_neuron(environment: Environment, owner: PoolAt) -> bool:
    """Return true for an image by its id, and for one whose catalogue entry, or its parent's, has Neuron's software."""
    image = owner.pool.image
    if image is None:
        return False
    source = environment.aws.images.get(image)
    if source is None:
        return re.fullmatch(r"ami-[0-9a-f]{8,17}", image) is not None
    parent = environment.aws.images.get(source.build.parent or "") if source.build is not None else source
    parameter = None if parent is None else parent.parameter
    public = None if parameter is None else image_behind(parameter)
    # An unknown parameter is an own image; without any (Debian) there is no driver.
    return parameter is not None and (public is None or _NEURON in public.software)
