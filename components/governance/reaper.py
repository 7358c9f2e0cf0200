"""Lambda function that terminates nodes after their lease, even while the site is unreachable."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from landbridge.guard.package import HANDLER, files
from landbridge.plan.args import named
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.guardrails import ReaperPlan, reaper_policy, reaper_trust


class Reaper(Component):
    """Lambda function that terminates, every few minutes, nodes of the cluster with an expired `landbridge:lease-expires` tag.

    Costs cents a month. Protects against the cost of nodes that no controller ends, because site, link or controller is down.
    Opens: the function can terminate instances with the tags of this cluster and of a pool.
    """

    def __init__(
        self,
        name: str,
        args: ReaperPlan,
        *,
        cluster: str,
        account: Account,
        region: str,
        tags: Mapping[str, str],
        path: str = "/",
        permissions_boundary: str | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"schedule": args.schedule}, opts)
        child, child_options = f"{name}-reaper", pulumi.ResourceOptions(parent=self)
        logs = aws.cloudwatch.LogGroup(
            child, name=f"/aws/lambda/{args.name}", retention_in_days=args.log_days, tags=tags, opts=child_options
        )
        role = aws.iam.Role(
            child,
            name=args.name,
            path=path,
            permissions_boundary=permissions_boundary,
            assume_role_policy=reaper_trust(),
            tags=tags,
            opts=child_options,
        )
        account_facts = pulumi.Output.all(account.partition, account.id, logs.arn)
        role_policy = aws.iam.RolePolicy(
            child,
            name="landbridge",
            role=role.id,
            policy=account_facts.apply(
                lambda facts: reaper_policy(
                    ArnContext(cluster, facts[0], region, facts[1], args.other_regions), facts[2].removesuffix(":*")
                )
            ),
            opts=child_options,
        )
        function = aws.lambda_.Function(
            child,
            name=args.name,
            description="Terminates nodes of this cluster whose lease has expired",
            role=role.arn,
            runtime=args.runtime,
            architectures=[args.architecture],
            handler=HANDLER,
            code=pulumi.AssetArchive({path: pulumi.StringAsset(text) for path, text in files().items()}),
            memory_size=args.memory_mib,
            timeout=args.timeout_seconds,
            environment={"variables": args.variables},
            tags=named(tags, args.name),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role_policy, logs]),
        )
        rule = aws.cloudwatch.EventRule(
            child,
            name=args.name,
            description="Schedule of the lease reaper",
            schedule_expression=args.schedule,
            tags=tags,
            opts=child_options,
        )
        permission = aws.lambda_.Permission(
            child,
            function=function.name,
            action="lambda:InvokeFunction",
            principal="events.amazonaws.com",
            source_arn=rule.arn,
            statement_id="schedule",
            opts=child_options,
        )
        aws.cloudwatch.EventTarget(
            child,
            rule=rule.name,
            target_id="reaper",
            arn=function.arn,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[permission]),
        )
        self.register_outputs({"functionName": function.name})
