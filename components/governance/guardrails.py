"""Budget, lease reaper, alarms, cost allocation tags, anomaly monitor and CloudTrail trail."""

import json
from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.governance.alarms import Alarms
from components.governance.reaper import Reaper
from components.governance.trail import Trail
from components.parts.account import Account
from components.parts.component import Component
from landbridge.plan.aws import guardrails as plan
from landbridge.plan.aws.guardrails import BudgetPlan, GuardrailsArgs


class Guardrails(Component):
    """Budget with alerts, which denies launches if it is hard; Lambda function that terminates nodes after their lease; alarms
    by e-mail; optional cost allocation tags, anomaly monitor and CloudTrail trail.

    Costs little: the function runs for a second every few minutes, the first two budget actions are free, a trail costs its
    storage. Protects against nodes that run while the site is unreachable and against an unexpected bill; the trail's files
    cannot be changed. Opens: AWS Budgets can attach one policy to the launch role, and the function can terminate nodes of
    this cluster.
    """

    def __init__(
        self,
        name: str,
        args: GuardrailsArgs,
        *,
        account: Account,
        region: str,
        launch_role_name: pulumi.Input[str],
        launch_role_arn: pulumi.Input[str],
        monitored_ids: Mapping[str, pulumi.Input[str]] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": args.cluster}, opts)
        self._name, self._args, self._account = name, args, account
        self.reaper: Reaper | None = None
        self._child_options = pulumi.ResourceOptions(parent=self)
        for tag in args.cost_tags:
            aws.costexplorer.CostAllocationTag(
                f"{name}-{tag.removeprefix('landbridge:')}", tag_key=tag, status="Active", opts=self._child_options
            )
        if args.budget is not None:
            budget = self._budget(args.budget)
            if args.budget.hard:
                self._stop_launches(args.budget, budget, launch_role_name, launch_role_arn)
        if args.anomaly_usd is not None:
            self._anomalies(args.anomaly_usd)
        if args.reaper is not None:
            self.reaper = Reaper(
                name,
                args.reaper,
                cluster=args.cluster,
                account=account,
                region=region,
                path=args.path,
                permissions_boundary=args.permissions_boundary,
                tags=args.tags,
                opts=self._child_options,
            )
        if args.alarms is not None:
            Alarms(
                name,
                args.alarms,
                account=account,
                region=region,
                ids=monitored_ids or {},
                launch_role_name=launch_role_name,
                tags=args.tags,
                protect=args.protect,
                opts=self._child_options,
            )
        if args.trail is not None:
            Trail(name, args.trail, cluster=args.cluster, account=account, region=region, tags=args.tags,
                  protect=args.protect, opts=self._child_options)  # fmt: skip
        self.register_outputs({})

    def _budget(self, budget: BudgetPlan) -> aws.budgets.Budget:
        addresses = list(budget.subscribers)
        alarms = [("ACTUAL", percent) for percent in budget.alarms] + [("FORECASTED", 100)]
        tag = f"user:landbridge:cluster${self._args.cluster}"
        return aws.budgets.Budget(
            self._name,
            name=self._args.cluster,
            budget_type="COST",
            time_unit="MONTHLY",
            limit_amount=budget.usd,
            limit_unit="USD",
            cost_filters=[{"name": "TagKeyValue", "values": [tag]}] if budget.cluster_only else None,
            notifications=[
                {
                    "notification_type": kind,
                    "comparison_operator": "GREATER_THAN",
                    "threshold": percent,
                    "threshold_type": "PERCENTAGE",
                    "subscriber_email_addresses": addresses,
                }
                for kind, percent in alarms
            ],
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _stop_launches(
        self,
        budget_plan: BudgetPlan,
        budget: aws.budgets.Budget,
        role_name: pulumi.Input[str],
        role_arn: pulumi.Input[str],
    ) -> None:
        """Create the budget action: at 100 % of the budget, launches are denied until an operator resets the action."""
        deny_policy = aws.iam.Policy(
            f"{self._name}-no-launches",
            name=f"{self._args.cluster}-no-launches",
            path=self._args.path,
            description="Put on the launch role by AWS Budgets when the month's budget is spent",
            policy=plan.no_launches(),
            tags=self._args.tags,
            opts=self._child_options,
        )
        role_and_policy_arns = pulumi.Output.all(role_arn, deny_policy.arn)
        role = aws.iam.Role(
            f"{self._name}-budget",
            name=f"{self._args.cluster}-budget",
            path=self._args.path,
            permissions_boundary=self._args.permissions_boundary,
            assume_role_policy=self._account.id.apply(plan.budget_trust),
            tags=self._args.tags,
            opts=self._child_options,
        )
        role_policy = aws.iam.RolePolicy(
            f"{self._name}-budget",
            name="landbridge",
            role=role.id,
            policy=role_and_policy_arns.apply(lambda arns: plan.budget_policy(*arns)),
            opts=self._child_options,
        )
        aws.budgets.BudgetAction(
            self._name,
            budget_name=budget.name,
            action_type="APPLY_IAM_POLICY",
            approval_model="AUTOMATIC",
            notification_type="ACTUAL",
            action_threshold={"action_threshold_type": "PERCENTAGE", "action_threshold_value": 100},
            definition={"iam_action_definition": {"policy_arn": deny_policy.arn, "roles": [role_name]}},
            execution_role_arn=role.arn,
            subscribers=[{"subscription_type": "EMAIL", "address": address} for address in budget_plan.subscribers],
            tags=self._args.tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[role_policy]),
        )

    def _anomalies(self, usd: str) -> None:
        """Create the anomaly monitor of the cluster's costs if cost allocation tags are on, else of the account's
        services.
        """
        anomalies = plan.anomalies_of(self._args.cluster) if self._args.cost_tags else None
        monitor = aws.costexplorer.AnomalyMonitor(
            self._name,
            name=self._args.cluster,
            monitor_type="CUSTOM" if anomalies else "DIMENSIONAL",
            monitor_dimension=None if anomalies else "SERVICE",
            monitor_specification=json.dumps(anomalies) if anomalies else None,
            tags=self._args.tags,
            opts=self._child_options,
        )
        aws.costexplorer.AnomalySubscription(
            self._name,
            name=self._args.cluster,
            frequency="DAILY",
            monitor_arn_lists=[monitor.arn],
            subscribers=[{"type": "EMAIL", "address": address} for address in self._args.subscribers],
            threshold_expression={
                "dimension": {
                    "key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE",
                    "match_options": ["GREATER_THAN_OR_EQUAL"],
                    "values": [usd],
                }
            },
            tags=self._args.tags,
            opts=self._child_options,
        )
