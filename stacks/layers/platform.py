"""Platform layer: SageMaker and image pipelines. No other layer depends on it, so it can be updated and removed
separately.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from components.node_image import NodeImage
from components.sagemaker import SageMaker
from landbridge.environment import Environment
from landbridge.node_image import Bundle, bundle
from landbridge.plan.aws.sagemaker import SageMakerArgs, sagemaker_args
from landbridge.plan.node_image.node_image import NodeImageArgs, node_image_args
from layers.context import Context, Exports
from layers.foundation import Foundation

#: Folder of this project, with the Ansible roles, also in a fork.
_PROJECT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class PlatformPlan:
    """Plan of the platform layer: the images to build, each with the archive of its build's files."""

    images: tuple[tuple[NodeImageArgs, Bundle], ...]
    sagemaker: SageMakerArgs | None

    @classmethod
    def of(cls, environment: Environment, images: Mapping[str, str]) -> "PlatformPlan":
        """Plan the layer; `images` are ids by name, from the environment's lock. Raises FindingsError."""
        image_args = node_image_args(environment, images)
        images_with_archives = tuple((image, bundle(_PROJECT, image.variables, image.settings)) for image in image_args)
        return cls(images_with_archives, sagemaker_args(environment))


def build(plan: PlatformPlan, foundation: Foundation, context: Context) -> Exports:
    """Register the resources of the layer."""
    images = {
        image_args.image: NodeImage(
            image_args.name,
            image_args,
            archive,
            account=context.account,
            vpc_id=foundation.vpc_id,
            subnet_id=foundation.subnet_ids[image_args.zone],
            opts=context.options,
        )
        for image_args, archive in plan.images
    }
    image_exports = {"images": {key: image.exports() for key, image in images.items()}} if images else {}
    if plan.sagemaker is not None:
        jobs = SageMaker(
            context.environment.name,
            plan.sagemaker,
            account=context.account,
            region=context.environment.region,
            vpc_id=foundation.vpc_id,
            subnet_ids=foundation.subnet_ids,
            bucket_arns=foundation.bucket_arns,
            key_arns=foundation.bucket_key_arns,
            opts=context.options,
        )
        image_exports["sagemaker"] = jobs.exports()
    return image_exports
