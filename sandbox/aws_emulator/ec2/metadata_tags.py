"""Tag keys of instances that show their tags in their metadata: EC2 refuses those that the metadata service cannot show.

Source: EC2 User Guide, "View tags for your EC2 instances using instance metadata".
"""

from collections.abc import Iterable, Mapping
from typing import Any

from moto.ec2.models import EC2Backend

from landbridge.catalog.aws.limits import limits
from landbridge.plan.aws_limits import metadata_tag_violations
from sandbox.aws_emulator.ec2.launches.launch_template_data import tags_for
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.network.checks import error
from sandbox.aws_emulator.server.errors import CloudError
from sandbox.aws_emulator.server.moto_hooks import before


def install(emulator: EmulatorState) -> None:
    """Check changes of tags and of metadata options. Global to the process, as moto's state is."""
    before(EC2Backend, "create_tags", _check_tags)
    before(EC2Backend, "modify_instance_metadata_options", _check_options)


def check(launch: Mapping[str, Any]) -> None:
    """Raise EC2's error for a launch with metadata tags and a key that the metadata service cannot show."""
    if (launch.get("MetadataOptions") or {}).get("InstanceMetadataTags") == "enabled":
        for message in _refusals(tags_for("instance", launch["TagSpecifications"])):
            raise CloudError("InvalidParameterValue", message)


def _check_tags(backend: Any, arguments: Mapping[str, Any]) -> None:
    for message in _refusals(arguments["tags"]):
        for instance in backend.all_instances():
            shown = instance.metadata_options.instance_metadata_tags == "enabled"
            if shown and instance.id in arguments["resource_ids"]:
                raise error("InvalidParameterValue", message)


def _check_options(backend: Any, arguments: Mapping[str, Any]) -> None:
    if arguments.get("metadata_tags") == "enabled":
        for message in _refusals(backend.tags.get(arguments["instance_id"], {})):
            raise error("InvalidParameterValue", message)


def _refusals(keys: Iterable[str]) -> Iterable[str]:
    allowed = limits().tags.metadata_keys
    names = ", ".join(f"'{name}'" for name in allowed.reserved)
    for fault in metadata_tag_violations(keys):
        yield (
            f"'{fault.key}' is not a valid tag key. Tag keys must match pattern ({allowed.pattern}), and must not be a "
            f"reserved name ({names})"
        )
