"""Environment key `actions` of a pool: scripts that each node runs before it takes jobs."""

from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Region, Text

#: Bucket and key. Of the characters that S3 calls safe, `*` is left out: it would be a wildcard in the policy of the
#: nodes' role. Source: S3 User Guide, "Naming Amazon S3 objects"; "General purpose bucket naming rules".
ScriptUrl = Annotated[
    str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[A-Za-z0-9!_.'()/=+@-]{1,900}$")
]
#: An alias does not do: a policy names a key by its id. Source: KMS Developer Guide, "Using IAM policies".
ScriptKeyArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[A-Za-z0-9-]+$")]


class ActionScript(Model):
    """Script that root of a node runs: an object of S3, used only if it has this checksum."""

    script: ScriptUrl = Field(description="program or script with an interpreter line (#!)")
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="checksum of the script; a node with another one runs nothing and takes no job"
    )
    arguments: tuple[Text, ...] = Field(
        default=(), description="arguments of the script; not for secrets, they are in the launch template"
    )
    timeout: int = Field(default=300, ge=1, le=7200, description="time limit of the script in seconds")
    region: Region | None = Field(default=None, description="region of the bucket; none: the region of the environment")
    kms_key: ScriptKeyArn | None = Field(
        default=None,
        description="your own KMS key of the object; none: no such key, or a bucket of the data hub, whose key is known",
    )

    @property
    def bucket(self) -> str:
        """Return the name of the bucket."""
        return self.script.split("/", 3)[2]

    @property
    def key(self) -> str:
        """Return the key of the object."""
        return self.script.split("/", 3)[3]


class PoolActions(Model):
    """Scripts at two moments of a node's boot, run in their order. A script that fails ends the node."""

    node_start: tuple[ActionScript, ...] = Field(
        default=(), description="before disks and file systems are mounted; the node has its name"
    )
    node_configured: tuple[ActionScript, ...] = Field(
        default=(), description="after disks and file systems are mounted, before slurmd takes jobs"
    )

    def scripts(self) -> tuple[tuple[str, int, ActionScript], ...]:
        """Return every script with its event and its position, in the order of the boot."""
        events = {"node_start": self.node_start, "node_configured": self.node_configured}
        return tuple(
            (event, index, script) for event, scripts in events.items() for index, script in enumerate(scripts)
        )
