"""Place of a dataset: the bucket of its data class, and the findings against it."""

from landbridge.environment import Environment
from landbridge.environment.base import Site
from landbridge.findings import Finding, did_you_mean
from landbridge.plan.outputs import StackOutputs


def class_fault(environment: Environment, data_class: str, site: Site = "aws") -> Finding | None:
    """Return the finding if data of a class may not be at a site, or if there is no such class."""
    known = environment.data_classes.get(data_class)
    if known is None:
        near = did_you_mean(data_class, environment.data_classes)
        fix = f'did you mean "{near}"?' if near else f"classes: {', '.join(sorted(environment.data_classes))}"
        return Finding("dataset-class", f"no data class {data_class} exists", ("data_classes",), fix)
    if site not in known.sites:
        message = f"data of class {data_class} may not be {'in AWS' if site == 'aws' else 'at the site'}"
        fix = "give the data's real class; the rule is in data_classes, and a change of it is the data owner's decision"
        return Finding("dataset-class", message, ("data_classes", data_class, "sites"), fix)
    return None


def hub_buckets(environment: Environment, outputs: StackOutputs) -> dict[str, str]:
    """Return the buckets by data class, of classes that may be in AWS."""
    buckets = outputs.data_hub.buckets.items()
    return {name: bucket.name for name, bucket in buckets if class_fault(environment, name) is None}


def mover_fault(outputs: StackOutputs, caller: str) -> Finding | None:
    """Return the finding if credentials (an ARN) are not a session of the role `mover`."""
    role = outputs.identity.mover_role_arn
    if role is None:
        message = "the environment has no role for moving data: its services are in AWS, or its Slurm was adopted"
        return Finding("dataset-role", message)
    return session_fault(role, caller)


def session_fault(role: str, caller: str) -> Finding | None:
    """Return the finding if credentials (an ARN) are not a session of a role."""
    # An ARN of a session has the role's name without its path.
    session = f"{role.replace(':iam:', ':sts:').partition(':role/')[0]}:assumed-role/{role.rpartition('/')[2]}/"
    if caller.startswith(session):
        return None
    message = f"these credentials are {caller}, not a session of {role}"
    fix = "run it on the storage host, whose profile `mover` is in /etc/landbridge/aws-profiles, or give --credentials"
    return Finding("dataset-role", message, fix=fix)
