"""Which image a pool boots: one of your own, one of AWS's by name as the lock has it, or what node_image.yml built."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from landbridge.environment import Environment, Pool


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """A pool's image. `ami` is None for a name whose id the lock does not have; `reference` is what EC2 is told.

    kind: `id` as written, `named` out of aws.images, `built` by this cluster's own playbook.
    """

    kind: Literal["id", "named", "built"]
    reference: str
    ami: str | None = None
    name: str | None = None
    parameter: str | None = None


def pool_image(environment: Environment, pool: Pool, locked: Mapping[str, str] | None = None) -> ImageChoice:
    """The image of a pool; `locked` are the ids that the environment's lock has, by the names in aws.images.

    A name that nobody knows is taken for a parameter that does not exist; a rule says so before it comes to that.
    """
    if pool.image is None:
        parameter = built_parameter(environment)
        return ImageChoice("built", f"resolve:ssm:{parameter}", parameter=parameter)
    if pool.image.startswith("ami-"):
        return ImageChoice("id", pool.image, pool.image)
    source = environment.aws.images.get(pool.image)
    ami = (locked or {}).get(pool.image)
    parameter = source.parameter if source is not None else f"/{pool.image}"
    return ImageChoice("named", ami or f"resolve:ssm:{parameter}", ami, pool.image, parameter)


def built_parameter(environment: Environment) -> str:
    """The parameter in which node_image.yml leaves the id of the newest image it has built for this cluster."""
    return f"/landbridge/{environment.name}/node-image"
