"""Node images, built in AWS by the Ansible roles that configure nodes on-prem."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from components.parts.image_archive import ImageArchive
from components.parts.image_builder import ImageBuilder
from landbridge.node_image import Bundle, ingredients, steps
from landbridge.plan.args import named
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.images import SOURCE
from landbridge.plan.node_image.iam_roles import prune_policy, prune_trust
from landbridge.plan.node_image.node_image import NodeImageArgs


class NodeImage(Component):
    """EC2 Image Builder pipeline that runs the cluster's own roles, so that nodes on-prem and in AWS are the same.

    Costs nothing until a build starts; then two instances, each for an hour at most, and the snapshots of the retained images.
    Protects: the digest of the roles is checked, a second run of the roles must change nothing, and an instance of the image
    is tested before the image is available; disks are encrypted. Opens no inbound port; the builder can download its
    archive and packages, and Image Builder can delete this image's old versions.
    """

    pipeline_arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: NodeImageArgs,
        archive: Bundle,
        *,
        account: Account,
        vpc_id: pulumi.Input[str],
        subnet_id: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"image": args.image, "source": archive.sha256}, opts)
        self._name, self._args, self._archive, self._account = name, args, archive, account
        self._child_options, self._tags = pulumi.ResourceOptions(parent=self), named(args.tags, args.name)
        # A recipe version must exist before the pipeline refers to it, and as long as it does.
        self._before_pipeline = pulumi.ResourceOptions(parent=self, delete_before_replace=False)
        self._number = args.version(ingredients(archive, args.timeout_minutes))
        stored = ImageArchive(name, args, archive, account=account, component=self)
        component = self._component(stored.bucket)
        builder = ImageBuilder(
            name,
            args,
            account=account,
            vpc_id=vpc_id,
            subnet_id=subnet_id,
            archive_arn=stored.archive_arn,
            component_arn=component.arn,
            component=self,
        )
        pipeline = aws.imagebuilder.ImagePipeline(
            name,
            name=args.name,
            description=f"Landbridge {args.cluster}: image {args.image}",
            image_recipe_arn=self._recipe(component.arn).arn,
            infrastructure_configuration_arn=builder.configuration.arn,
            distribution_configuration_arn=self._distribution().arn,
            enhanced_image_metadata_enabled=True,
            image_tests_configuration={"image_tests_enabled": True, "timeout_minutes": 60},
            schedule=None if args.schedule is None else {"schedule_expression": args.schedule, "timezone": "UTC"},
            status="ENABLED",
            tags=self._tags,
            opts=self._child_options,
        )
        self._prune()
        self.pipeline_arn = pipeline.arn
        self.register_outputs({"pipelineArn": pipeline.arn})

    def exports(self) -> dict[str, Any]:
        """Return the stack's output for this image."""
        return {"pipeline_arn": self.pipeline_arn, "source": self._archive.sha256}

    def _component(self, bucket: pulumi.Output[str]) -> aws.imagebuilder.Component:
        args, archive = self._args, self._archive
        return aws.imagebuilder.Component(
            self._name,
            name=args.name,
            description=f"Landbridge {args.cluster}: the roles of a node",
            platform="Linux",
            version=self._number,
            data=pulumi.Output.all(bucket, self._account.id).apply(
                lambda facts: steps(
                    args.name, archive, bucket=facts[0], account=facts[1], timeout_minutes=args.timeout_minutes
                )
            ),
            tags=self._tags,
            opts=self._before_pipeline,
        )

    def _recipe(self, component: pulumi.Output[str]) -> aws.imagebuilder.ImageRecipe:
        args = self._args
        disk = {
            "volume_size": args.disk_gib,
            "volume_type": "gp3",
            "encrypted": "true",
            "delete_on_termination": "true",
        }
        return aws.imagebuilder.ImageRecipe(
            self._name,
            name=args.name,
            description=f"Landbridge {args.cluster}: image {args.image}",
            version=self._number,
            parent_image=args.parent,
            components=[{"component_arn": component}],
            block_device_mappings=[{"device_name": args.root_device, "ebs": disk}],
            tags=self._tags,
            opts=self._before_pipeline,
        )

    def _distribution(self) -> aws.imagebuilder.DistributionConfiguration:
        args = self._args
        image: dict[str, Any] = {
            # Image Builder inserts the build time, so that each image has its own name.
            "name": f"{args.name}-{{{{ imagebuilder:buildDate }}}}",
            "description": f"Landbridge {args.cluster}: image {args.image}",
            "ami_tags": {**self._tags, SOURCE: self._archive.sha256},
        }
        if args.share_with:
            image["launch_permission"] = {"user_ids": list(args.share_with)}
        distributions = [
            {
                "region": region,
                "ami_distribution_configuration": {
                    **image,
                    **({"kms_key_id": args.kms_keys[region]} if region in args.kms_keys else {}),
                },
            }
            for region in (args.region, *args.copies)
        ]
        return aws.imagebuilder.DistributionConfiguration(
            self._name,
            name=args.name,
            description=f"Landbridge {args.cluster}: distribution of image {args.image}",
            distributions=distributions,
            tags=self._tags,
            opts=self._child_options,
        )

    def _prune(self) -> None:
        """Create the lifecycle policy: delete the oldest versions, except recently launched ones."""
        args, child, account = self._args, f"{self._name}-prune", self._account
        role = aws.iam.Role(
            child,
            name=f"{args.name}-prune",
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            assume_role_policy=account.id.apply(prune_trust),
            tags=args.tags,
            opts=self._child_options,
        )
        account_facts = pulumi.Output.all(account.partition, account.id)
        role_policy = aws.iam.RolePolicy(
            child,
            name="landbridge",
            role=role.id,
            policy=account_facts.apply(
                lambda facts: prune_policy(ArnContext(args.cluster, facts[0], args.region, facts[1]), args.name)
            ),
            opts=self._child_options,
        )
        policy_detail = {
            "action": {"type": "DELETE", "include_resources": {"amis": True, "snapshots": True}},
            "filter": {"type": "COUNT", "value": args.keep},
            "exclusion_rules": {"amis": {"last_launched": {"unit": "DAYS", "value": args.keep_days}}},
        }
        aws.imagebuilder.LifecyclePolicy(
            self._name,
            name=args.name,
            description=f"Landbridge {args.cluster}: keeps {args.keep} of image {args.image}",
            execution_role=role.arn,
            resource_type="AMI_IMAGE",
            policy_details=[policy_detail],
            resource_selection={"recipes": [{"name": args.name, "semantic_version": "x.x.x"}]},
            status="ENABLED",
            tags=self._tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role_policy]),
        )
