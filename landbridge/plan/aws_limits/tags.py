"""Tags. Source: AWS Tagging, "Tag naming limits and requirements" (landbridge/catalog/limits.yaml)."""

import re
from collections.abc import Iterator, Mapping

from landbridge.catalog.aws.limits import limits
from landbridge.plan.aws_limits.violation import LimitViolation


def tag_violations(tags: Mapping[str, str | None]) -> Iterator[LimitViolation]:
    """What AWS refuses about the tags of one resource. Keys: the tag's, or "" for their number. None: not known yet."""
    yield from number_faults(len(tags))
    for key, value in tags.items():
        yield from reserved_faults(key)
        yield from form_faults(key, value)


def number_faults(count: int) -> Iterator[LimitViolation]:
    """Whether a resource has room for so many."""
    if count > limits().tags.most:
        yield LimitViolation("", f"{count} tags; AWS allows {limits().tags.most}")


def reserved_faults(key: str) -> Iterator[LimitViolation]:
    """Whether a key is one that AWS keeps for itself."""
    prefix = limits().tags.reserved_prefix
    if key.casefold().startswith(prefix):
        yield LimitViolation(key, f'the tag "{key}" begins with {prefix}, which only AWS sets')


def form_faults(key: str, value: str | None) -> Iterator[LimitViolation]:
    """Lengths and characters of one tag: of its value only where its key is fine."""
    known = limits().tags
    if not 1 <= len(key) <= known.key_characters:
        least = "at most" if key else "1 to"
        yield LimitViolation(key, f"a tag's key has {least} {known.key_characters} characters, not {len(key)}")
    elif bad := _strangers(key):
        yield LimitViolation(key, f'a tag\'s key cannot have "{bad}"')
    else:
        yield from tag_value_violations(key, value)


def tag_value_violations(key: str, value: str | None) -> Iterator[LimitViolation]:
    """Length and characters of what becomes a tag's value; `key` is only told."""
    known = limits().tags
    if value is not None and len(value) > known.value_characters:
        yield LimitViolation(key, f"a tag's value has at most {known.value_characters} characters, not {len(value)}")
    elif value is not None and (bad := _strangers(value)):
        yield LimitViolation(key, f'a tag\'s value cannot have "{bad}"')


def _strangers(text: str) -> str:
    """The characters of a text that a tag cannot have."""
    return "".join(dict.fromkeys(char for char in text if not re.fullmatch(limits().tags.pattern, char)))
