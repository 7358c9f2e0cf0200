"""Page docs/reference/aws-resources.md: each AWS resource type, with recovery, sweep and the effect of a change."""

from collections.abc import Iterator

from landbridge.aws_resources import SERVICES, ResourceType

_HEAD = """# AWS resource types

Each type that Landbridge creates is one entry in [landbridge/aws_resources](../../landbridge/aws_resources). Recovery, `landbridge sweep`
and `landbridge impact` are loops over these entries.

- *Recovery*: `found` if recovery finds a resource of a killed `up` by its tags, its name or its parent resource, and imports it into
  Pulumi's state; `repeated` if its creation can safely be repeated.
- *Sweep*: the rank in the order of deletion of `landbridge sweep --delete`; `by id` if the resource holds data and its id must be given
  with `--lose`.
- *Billed*: it costs money while it exists.
- *Update*, *Replace*, *Delete*: the effect on jobs and data as `landbridge impact` prints it; properties with another effect are in
  [impact.yaml](../../landbridge/catalog/impact.yaml).
"""


def page() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *(line for name, types in SERVICES.items() for line in _section(name, types))])


def _section(name: str, types: tuple[ResourceType, ...]) -> Iterator[str]:
    yield f"## {name}.py\n"
    yield "| type | Pulumi's token | recovery | sweep | billed | update | replace | delete |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for entry in types:
        effects = ("", "", "")
        if entry.impact is not None:
            effects = (entry.impact.update.value, entry.impact.replace.value, entry.impact.delete.value)
        recovery = "found" if entry.recover else "repeated" if entry.repeatable else ""
        token = f"`{entry.token}`" if entry.token else ""
        cells = (entry.noun, token, recovery, _sweep(entry), "yes" if entry.billed else "", *effects)
        yield "| " + " | ".join(cells) + " |"
    yield ""
    for entry in types:
        if reason := entry.repeatable or entry.not_swept:
            yield f"- {entry.noun}: {'repeated' if entry.repeatable else 'not swept'}, because {reason}."
    if any(entry.repeatable or entry.not_swept for entry in types):
        yield ""


def _sweep(entry: ResourceType) -> str:
    if entry.sweep is None:
        return ""
    return f"{entry.sweep.rank}, by id" if entry.holds_data else str(entry.sweep.rank)
