"""Limits of tags. Source: AWS Tagging, "Tag naming limits and requirements" (landbridge/catalog/limits.yaml)."""

import re
from collections.abc import Iterable, Iterator, Mapping

from landbridge.catalog.aws.limits import limits
from landbridge.plan.aws_limits.violation import LimitViolation


def tag_violations(tags: Mapping[str, str | None]) -> Iterator[LimitViolation]:
    """Return the violations of one resource's tags. Keys: the tag's key, or "" for their number. A value of None is not
    known yet.
    """
    yield from tag_count_violations(len(tags))
    for key, value in tags.items():
        yield from reserved_tag_violations(key)
        yield from tag_form_violations(key, value)


def tag_count_violations(count: int) -> Iterator[LimitViolation]:
    """Yield a violation if a resource has too many tags."""
    if count > limits().tags.most:
        yield LimitViolation("", f"{count} tags; AWS allows {limits().tags.most}")


def reserved_tag_violations(key: str) -> Iterator[LimitViolation]:
    """Yield a violation if AWS reserves the key."""
    prefix = limits().tags.reserved_prefix
    if key.casefold().startswith(prefix):
        yield LimitViolation(key, f'the tag "{key}" begins with {prefix}, which only AWS sets')


def tag_form_violations(key: str, value: str | None) -> Iterator[LimitViolation]:
    """Yield violations of one tag's length and characters; its value is checked only if its key is valid."""
    tag_limits = limits().tags
    if not 1 <= len(key) <= tag_limits.key_characters:
        bounds = "at most" if key else "1 to"
        yield LimitViolation(key, f"a tag's key has {bounds} {tag_limits.key_characters} characters, not {len(key)}")
    elif invalid := _invalid_characters(key):
        yield LimitViolation(key, f'a tag\'s key cannot have "{invalid}"')
    else:
        yield from tag_value_violations(key, value)


def metadata_tag_violations(keys: Iterable[str]) -> Iterator[LimitViolation]:
    """Yield the tag keys that EC2 refuses on an instance that shows its tags in its metadata; values may have any
    character of a tag.
    """
    allowed = limits().tags.metadata_keys
    for key in keys:
        if key in allowed.reserved or not re.fullmatch(allowed.pattern, key):
            message = f'EC2 refuses the tag key "{key}" on an instance that shows its tags in its metadata'
            yield LimitViolation(key, message)


def tag_value_violations(key: str, value: str | None) -> Iterator[LimitViolation]:
    """Yield violations of a tag value's length and characters; `key` is used in the message only."""
    tag_limits = limits().tags
    if value is not None and len(value) > tag_limits.value_characters:
        yield LimitViolation(
            key, f"a tag's value has at most {tag_limits.value_characters} characters, not {len(value)}"
        )
    elif value is not None and (invalid := _invalid_characters(value)):
        yield LimitViolation(key, f'a tag\'s value cannot have "{invalid}"')


def _invalid_characters(text: str) -> str:
    """Return the characters that a tag cannot have."""
    return "".join(dict.fromkeys(char for char in text if not re.fullmatch(limits().tags.pattern, char)))
