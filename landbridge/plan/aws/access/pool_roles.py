"""IAM roles of the nodes of single pools: the rights and the trust of the nodes' role, with further managed policies."""

from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment
from landbridge.plan.args import Args
from landbridge.plan.resource_names import shortened


class PoolRolePlan(Args):
    """Role of the nodes of one pool, with all its managed policies: first the policies of every node, then the policies
    of the pool.
    """

    pool: str
    name: str
    policies: tuple[str, ...]

    @property
    def key(self) -> str:
        """Return the key of the role among the roles of the cluster."""
        return f"node-{self.pool}"


def pool_roles(environment: Environment) -> tuple[PoolRolePlan, ...]:
    """Plan a role for each pool with its own managed policies, in the file's order."""
    shared = environment.aws.iam.node_policies
    return tuple(
        PoolRolePlan(
            pool=pool.name,
            name=pool_role_name(environment.name, pool.name),
            policies=tuple(dict.fromkeys((*shared, *pool.node_policies))),
        )
        for pool in environment.aws.pools
        if pool.node_policies
    )


def pool_role_name(cluster: str, pool: str) -> str:
    """Return the name of a pool's role and of its instance profile; a long name is shortened and stays unique."""
    return shortened(f"{cluster}-node-{pool}", limits().names.rules["iam_role"].characters[1])
