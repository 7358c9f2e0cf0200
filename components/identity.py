"""IAM roles, and the secrets that nodes read: Slurm's key, and the certificate of their exporters."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from landbridge.plan.args import named
from landbridge.plan.aws.access import identity as plan
from landbridge.plan.aws.access import role_trust
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import IdentityArgs
from landbridge.plan.aws.access.job_roles import JobRolePlan
from landbridge.plan.aws.access.job_roles import trust as job_trust
from landbridge.plan.aws.access.onprem_hosts import ONPREM_ROLES, OnPremRole


class Identity(Component):
    """IAM roles without users or static keys: one for the nodes, and one for the nodes of each pool with its own
    policies; one for the jobs of each data class; five to eight for on-prem services, each for one purpose.

    Costs 0.40 USD a month for each secret; roles, anchor and profiles cost nothing. Protects: each role has the permissions for
    its own calls only; launch and terminate are separate roles and limited to this cluster's nodes; no role can access data that
    must stay on-prem; nodes cannot access the hub, and jobs only the bucket and key of their class; the secret with Slurm's key
    is created without a value (the controller publishes it, nodes read it at
    boot). Opens: a host with a certificate of the given CA can assume the roles of its host name; an activation lets as many
    machines register as it has registrations.
    """

    node_role_arn: pulumi.Output[str]
    node_profile: aws.iam.InstanceProfile
    role_arns: dict[str, pulumi.Output[str]]
    job_role_arns: dict[str, pulumi.Output[str]]
    pool_role_arns: dict[str, pulumi.Output[str]]
    pool_profile_arns: dict[str, pulumi.Output[str]]
    launch_role: aws.iam.Role | None
    secret_name: pulumi.Output[str]
    secret_arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: IdentityArgs,
        *,
        account: Account,
        region: str,
        bucket_arns: Mapping[str, pulumi.Input[str]],
        key_arns: Mapping[str, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"cluster": args.cluster}, opts)
        self._name, self._args = name, args
        self._child_options = pulumi.ResourceOptions(parent=self)
        secret = aws.secretsmanager.Secret(
            f"{name}-slurm-key",
            name=args.secret_name,
            description="Slurm's key: written by the controller, read by nodes at boot",
            recovery_window_in_days=30 if args.protect else 0,
            tags=named(args.tags, args.secret_name),
            opts=pulumi.ResourceOptions(parent=self, protect=args.protect),
        )
        metrics_secret = self._metrics_secret()
        anchor = self._anchor()
        node = self._role("node", role_trust.instance_trust())
        shared = {f"node-{_policy_name(arn)}": arn for arn in args.node_policies}
        self.node_profile = self._instance_profile("node", f"{args.cluster}-node", node, shared)
        pools = {pool.pool: self._role(pool.key, role_trust.instance_trust(), pool.name) for pool in args.pool_roles}
        profiles = {
            pool.pool: self._instance_profile(
                pool.key,
                pool.name,
                pools[pool.pool],
                # Names of pools have no dot, so the names of two pools' attachments differ.
                {f"{pool.key}.{_policy_name(arn)}": arn for arn in pool.policies},
            )
            for pool in args.pool_roles
        }
        node_role_arns = [node.arn, *(role.arn for role in pools.values())]
        roles: dict[str, aws.iam.Role] = {"node": node}
        onprem = [key for key in ONPREM_ROLES if key in args.hosts]
        for key in onprem:
            roles[key] = self._role(
                key, self._trust(key, account, anchor), longest_session=role_trust.longest_session(args)
            )
        context = pulumi.Output.all(account.partition, account.id).apply(
            lambda f: ArnContext(args.cluster, f[0], region, f[1], args.other_regions)
        )
        jobs = {job.data_class: self._job_role(job, context, node_role_arns, anchor) for job in args.jobs}
        documents = pulumi.Output.all(
            args=args,
            place=context,
            buckets=pulumi.Output.all(**bucket_arns),
            keys=pulumi.Output.all(**key_arns),
            node_role_arns=pulumi.Output.all(*node_role_arns),
            job_role_arns=pulumi.Output.all(**{name: role.arn for name, role in jobs.items()}),
            secret_arn=secret.arn,
            metrics_secret_arn=metrics_secret.arn if metrics_secret else None,
        ).apply(lambda facts: plan.documents(**facts).model_dump())
        for name_of, role in roles.items():
            if name_of != "hub":
                self._allow(name_of, role, documents[name_of])
        if "hub" in roles:
            self._allow("hub", roles["hub"], self._hub_document(account, bucket_arns, key_arns))
        for pool in args.pool_roles:
            self._allow(pool.key, pools[pool.pool], documents["node"])
        for job in args.jobs:
            self._allow(job.key, jobs[job.data_class], documents["jobs"][job.data_class])
        self.node_role_arn, self.launch_role = node.arn, roles.get("launch")
        self.role_arns = {key: role.arn for key, role in roles.items()}
        self.job_role_arns = {name: role.arn for name, role in jobs.items()}
        self.pool_role_arns = {name: role.arn for name, role in pools.items()}
        self.pool_profile_arns = {name: profile.arn for name, profile in profiles.items()}
        self.secret_name, self.secret_arn = secret.name, secret.arn
        self._metrics_secret_name = metrics_secret.name if metrics_secret else None
        self._anchor_arn = anchor.arn if anchor else None
        self._profiles = {key: self._profile(key, roles[key]).arn for key in onprem} if anchor else {}
        self._job_profiles = {
            job.data_class: self._profile(job.key, jobs[job.data_class]).arn
            for job in args.jobs
            if anchor and job.hosts
        }
        self.activation = self._activation(account)
        self.register_outputs({f"{key}RoleArn": role.arn for key, role in roles.items()})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `identity` output."""
        return {
            "node_instance_profile": self.node_profile.name,
            **{f"{key}_role_arn": arn for key, arn in self.role_arns.items()},
            "trust_anchor_arn": self._anchor_arn,
            "profile_arns": self._profiles,
            "job_role_arns": self.job_role_arns,
            "job_profile_arns": self._job_profiles,
            **({"pool_role_arns": self.pool_role_arns} if self.pool_role_arns else {}),
            "ssm_activation_id": self.activation.id if self.activation else None,
        }

    def secret_names(self) -> dict[str, pulumi.Output[str]]:
        """Return the stack's `secrets` output."""
        metrics = self._metrics_secret_name
        return {"slurm_key": self.secret_name, **({} if metrics is None else {"node_metrics": metrics})}

    def _metrics_secret(self) -> aws.secretsmanager.Secret | None:
        """Create the secret with the certificate of the exporters of nodes, if Prometheus reads their metrics."""
        secret_name = self._args.metrics_secret_name
        if secret_name is None:
            return None
        return aws.secretsmanager.Secret(
            f"{self._name}-node-metrics",
            name=secret_name,
            description="Certificate of the exporters of nodes: written by the controller, read by nodes",
            recovery_window_in_days=30 if self._args.protect else 0,
            tags=named(self._args.tags, secret_name),
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.protect),
        )

    def _instance_profile(
        self, key: str, name: str, role: aws.iam.Role, policies: Mapping[str, str]
    ) -> aws.iam.InstanceProfile:
        """Create the instance profile of a role of nodes, and attach the role's managed policies: ARNs by name."""
        for label, arn in policies.items():
            aws.iam.RolePolicyAttachment(
                f"{self._name}-{label}", role=role.name, policy_arn=arn, opts=self._child_options
            )
        return aws.iam.InstanceProfile(
            f"{self._name}-{key}",
            name=name,
            path=self._args.path,
            role=role.name,
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _trust(
        self, key: OnPremRole, account: Account, anchor: aws.rolesanywhere.TrustAnchor | None
    ) -> pulumi.Output[str]:
        known = pulumi.Output.all(account.id, anchor.arn if anchor else None)
        return known.apply(lambda facts: role_trust.onprem_trust(self._args, key, facts[0], facts[1]))

    def _job_role(
        self,
        job: JobRolePlan,
        context: pulumi.Output[ArnContext],
        node_role_arns: Sequence[pulumi.Output[str]],
        anchor: aws.rolesanywhere.TrustAnchor | None,
    ) -> aws.iam.Role:
        known = pulumi.Output.all(context, pulumi.Output.all(*node_role_arns), anchor.arn if anchor else None)
        # Only sessions of IAM Roles Anywhere, for hosts of the site, are longer than IAM's default.
        longest_session = role_trust.longest_session(self._args) if anchor and job.hosts else None
        trust = known.apply(lambda facts: job_trust(job, *facts))
        return self._role(job.key, trust, job.name, longest_session=longest_session)

    def _hub_document(
        self, account: Account, bucket_arns: Mapping[str, pulumi.Input[str]], key_arns: Mapping[str, pulumi.Input[str]]
    ) -> pulumi.Output[str]:
        known = pulumi.Output.all(
            account.partition, pulumi.Output.all(**dict(bucket_arns)), pulumi.Output.all(**dict(key_arns))
        )
        return known.apply(lambda facts: plan.hub_document(self._args, *facts))

    def _role(
        self, key: str, trust: pulumi.Input[str], name: str | None = None, *, longest_session: int | None = None
    ) -> aws.iam.Role:
        return aws.iam.Role(
            f"{self._name}-{key}",
            name=name or f"{self._args.cluster}-{key}",
            path=self._args.path,
            permissions_boundary=self._args.permissions_boundary,
            assume_role_policy=trust,
            max_session_duration=longest_session,
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _allow(self, key: str, role: aws.iam.Role, policy: pulumi.Input[str]) -> None:
        aws.iam.RolePolicy(
            f"{self._name}-{key}", name="landbridge", role=role.id, policy=policy, opts=self._child_options
        )

    def _anchor(self) -> aws.rolesanywhere.TrustAnchor | None:
        """Create the trust anchor of IAM Roles Anywhere if the environment names a CA."""
        anchor_plan = self._args.anchor
        if anchor_plan is None:
            return None
        return aws.rolesanywhere.TrustAnchor(
            self._name,
            name=f"{self._args.cluster}-site",
            enabled=True,
            source={
                "source_type": "CERTIFICATE_BUNDLE",
                "source_data": {"x509_certificate_data": anchor_plan.certificate},
            },
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _profile(self, key: str, role: aws.iam.Role) -> aws.rolesanywhere.Profile:
        """Create the profile of one role. The name of a session is the certificate's serial number, so CloudTrail
        events have it.
        """
        anchor_plan = self._args.anchor
        return aws.rolesanywhere.Profile(
            f"{self._name}-{key}",
            name=f"{self._args.cluster}-{key}",
            enabled=True,
            role_arns=[role.arn],
            duration_seconds=anchor_plan.seconds if anchor_plan else None,
            tags=self._args.tags,
            opts=self._child_options,
        )

    def _activation(self, account: Account) -> aws.ssm.Activation | None:
        """Create the SSM hybrid activation, with which on-prem machines register. Its code is a secret."""
        activation_plan = self._args.activation
        if activation_plan is None:
            return None
        role = self._role("managed", account.id.apply(role_trust.managed_trust))
        core = account.partition.apply(
            lambda partition: f"arn:{partition}:iam::aws:policy/AmazonSSMManagedInstanceCore"
        )
        attached = aws.iam.RolePolicyAttachment(
            f"{self._name}-managed", role=role.name, policy_arn=core, opts=self._child_options
        )
        return aws.ssm.Activation(
            self._name,
            name=f"{self._args.cluster}-site",
            description="on-prem machines",
            iam_role=role.name,
            registration_limit=activation_plan.registrations,
            expiration_date=activation_plan.expires,
            tags=self._args.tags,
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[attached], additional_secret_outputs=["activationCode"]
            ),
        )


def _policy_name(arn: str) -> str:
    return arn.rsplit("/", 1)[1]
