"""Rules about tags."""

from collections.abc import Iterator, Mapping

from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.args import tags
from landbridge.plan.aws_limits.tags import (
    metadata_tag_violations,
    reserved_tag_violations,
    tag_form_violations,
    tag_value_violations,
)
from landbridge.rules.registry import rule
from landbridge.tags import OF_INSTANCES, PREFIX

_LETTERS = "use letters, digits, spaces and . : / = + - @ _"
_KEY_LETTERS = "use only a to z, A to Z, digits and . : = + - @ _ in the key"


@rule
def tag_reserved(environment: Environment) -> Iterator[Finding]:
    """A tag key has neither the prefix aws:, which AWS reserves, nor landbridge:, which marks the cluster's resources.

    Source: AWS Tagging, "Tag naming limits and requirements"; the burst controller, which terminates instances by their
    tags.
    """
    for path, written in _written(environment):
        for key in written:
            for fault in reserved_tag_violations(key):
                yield error((*path, key), fault.message, fix="choose another key")
            if key.casefold().startswith(PREFIX):
                message = f'the tag "{key}" has the prefix {PREFIX}, which marks resources of the cluster'
                fix = "write owner: or cost_center: of the environment" if key.endswith(("owner", "center")) else None
                yield error((*path, key), message, fix=fix)
            elif key == "Name":
                message = 'the tag "Name" is set by Landbridge on every resource'
                yield warning((*path, key), message, fix="remove it")


@rule
def tag_form(environment: Environment) -> Iterator[Finding]:
    """Keys and values of tags have the length and the characters that AWS allows.

    The same holds for owner and cost_center, which become tags. Instances show their tags in their metadata, where a
    key has fewer characters than elsewhere: with another key EC2 refuses every launch.
    Source: AWS Tagging, "Tag naming limits and requirements"; EC2 User Guide, "View tags for your EC2 instances using
    instance metadata".
    """
    for key, value in (("owner", environment.owner), ("cost_center", environment.cost_center)):
        for fault in tag_value_violations(key, value):
            yield error((key,), fault.message, fix=_LETTERS)
    for path, written in _written(environment):
        for key, value in written.items():
            for fault in tag_form_violations(key, value):
                yield error((*path, key), fault.message, fix=_LETTERS)
        for fault in metadata_tag_violations(written):
            yield error((*path, fault.key), fault.message, fix=_KEY_LETTERS)


@rule
def tag_count(environment: Environment) -> Iterator[Finding]:
    """A resource has at most 50 tags, Landbridge's own included.

    Source: AWS Tagging, "Tag naming limits and requirements".
    """
    common = {*tags(environment, pool="x"), *OF_INSTANCES}
    max_tags = limits().tags.most
    if len(common) > max_tags:
        message = f"{len(common)} tags on an instance, {len(common) - len(environment.aws.tags)} of them Landbridge's"
        yield error(("aws", "tags"), f"{message}; AWS allows {max_tags}")
        return
    for index, pool in enumerate(environment.aws.pools):
        if pool.tags and len(common | set(pool.tags)) > max_tags:
            path: DataPath = ("aws", "pools", index, "tags")
            message = f"{len(common | set(pool.tags))} tags on an instance of {pool.name}; AWS allows {max_tags}"
            yield error(path, message, related=(("aws", "tags"),))


@rule
def duplicate_tag(environment: Environment) -> Iterator[Finding]:
    """No two tag keys differ only in case: cost reports treat them as two tags, and readers as one.

    Source: IAM User Guide, "Tags": keys are case sensitive for most services, and not for IAM.
    """
    for path, written in _written(environment):
        seen: dict[str, str] = {}
        if path != ("aws", "tags"):
            seen = {key.casefold(): key for key in environment.aws.tags}
        for key in written:
            first = seen.setdefault(key.casefold(), key)
            if first != key:
                message = f'the tag keys "{key}" and "{first}" differ only in case'
                related: tuple[DataPath, ...] = (("aws", "tags"),)
                yield warning((*path, key), message, fix="remove one", related=related)


def _written(environment: Environment) -> Iterator[tuple[DataPath, Mapping[str, str]]]:
    yield ("aws", "tags"), environment.aws.tags
    for index, pool in enumerate(environment.aws.pools):
        yield ("aws", "pools", index, "tags"), pool.tags
