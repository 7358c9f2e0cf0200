"""Rules about tags."""

import re
from collections.abc import Iterator, Mapping

from landbridge.catalog.limits import limits
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, Severity
from landbridge.plan.args import tags
from landbridge.rules.registry import rule

_OWN = "landbridge:"
#: What the burst controller adds to an instance (landbridge/burst/request.py and ec2.py).
_BURST = ("Name", *(f"landbridge:{word}" for word in ("node", "nodes", "job", "lease-expires", "data-class")))


@rule
def tag_reserved(environment: Environment) -> Iterator[Finding]:
    """A tag's key begins neither with aws:, which is AWS's, nor with landbridge:, by which the cluster finds its own.

    Source: AWS Tagging, "Tag naming limits and requirements"; the burst controller, which ends instances by its tags.
    """
    for path, written in _written(environment):
        for key in written:
            if key.casefold().startswith(limits().tags.reserved_prefix):
                message = f'the tag "{key}" begins with aws:, which only AWS sets'
                yield Finding("tag-reserved", message, (*path, key), "choose another key")
            elif key.casefold().startswith(_OWN):
                message = f'the tag "{key}" begins with {_OWN}, by which the cluster knows what is its own'
                fix = (
                    "owner: and cost_center: are keys of the environment" if key.endswith(("owner", "center")) else None
                )
                yield Finding("tag-reserved", message, (*path, key), fix)
            elif key == "Name":
                message = 'the tag "Name" is set on everything by Landbridge itself'
                yield Finding("tag-reserved", message, (*path, key), "remove it", Severity.WARNING)


@rule
def tag_form(environment: Environment) -> Iterator[Finding]:
    """Keys and values of tags are not too long, and of letters, digits, spaces and . : / = + - @ _ only.

    That goes for owner and cost_center too, which become tags.
    Source: AWS Tagging, "Tag naming limits and requirements".
    """
    allowed = limits().tags
    values: list[tuple[DataPath, str]] = [
        (("owner",), environment.owner),
        (("cost_center",), environment.cost_center),
    ]
    for path, written in _written(environment):
        for key, value in written.items():
            values.append(((*path, key), value))
            if len(key) > allowed.key_characters:
                message = f"a tag's key has at most {allowed.key_characters} characters, not {len(key)}"
                yield Finding("tag-form", message, (*path, key))
            elif bad := _strangers(key):
                yield Finding("tag-form", f'a tag\'s key cannot have "{bad}"', (*path, key), _letters())
    for place, value in values:
        if len(value) > allowed.value_characters:
            message = f"a tag's value has at most {allowed.value_characters} characters, not {len(value)}"
            yield Finding("tag-form", message, place)
        elif bad := _strangers(value):
            yield Finding("tag-form", f'a tag\'s value cannot have "{bad}"', place, _letters())


@rule
def tag_count(environment: Environment) -> Iterator[Finding]:
    """A resource has at most 50 tags, Landbridge's own among them.

    Source: AWS Tagging, "Tag naming limits and requirements".
    """
    common = {*tags(environment, pool="x"), *_BURST}
    most = limits().tags.most
    if len(common) > most:
        message = f"{len(common)} tags on an instance, {len(common) - len(environment.aws.tags)} of them Landbridge's"
        yield Finding("tag-count", f"{message}; AWS allows {most}", ("aws", "tags"))
        return
    for index, pool in enumerate(environment.aws.pools):
        if pool.tags and len(common | set(pool.tags)) > most:
            path: DataPath = ("aws", "pools", index, "tags")
            message = f"{len(common | set(pool.tags))} tags on an instance of {pool.name}; AWS allows {most}"
            yield Finding("tag-count", message, path, related=(("aws", "tags"),))


@rule
def tag_twice(environment: Environment) -> Iterator[Finding]:
    """No two tags differ in upper and lower case alone: cost reports and policies take them for two, people for one.

    Source: IAM User Guide, "Tags": keys are case sensitive for most services, and not for IAM.
    """
    for path, written in _written(environment):
        seen: dict[str, str] = {}
        if path != ("aws", "tags"):
            seen = {key.casefold(): key for key in environment.aws.tags}
        for key in written:
            first = seen.setdefault(key.casefold(), key)
            if first != key:
                message = f'"{key}" and "{first}" differ in case alone'
                related: tuple[DataPath, ...] = (("aws", "tags"),)
                yield Finding("tag-twice", message, (*path, key), "keep one", Severity.WARNING, related)


def _written(environment: Environment) -> Iterator[tuple[DataPath, Mapping[str, str]]]:
    yield ("aws", "tags"), environment.aws.tags
    for index, pool in enumerate(environment.aws.pools):
        yield ("aws", "pools", index, "tags"), pool.tags


def _strangers(text: str) -> str:
    """The characters that a tag cannot have."""
    return "".join(dict.fromkeys(char for char in text if not re.fullmatch(limits().tags.pattern, char)))


def _letters() -> str:
    return "letters, digits, spaces and . : / = + - @ _"
