"""Environment key `state`: the backend of Pulumi's state, and the provider that encrypts its secrets."""

from typing import Annotated

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model

#: Source: Pulumi documentation, "State and backends" and "Secrets" (`pulumi stack init --secrets-provider`).
Backend = Annotated[str, StringConstraints(pattern=r"^(local|(s3|gs|azblob|https)://[^\s]+)$", max_length=500)]
SecretsProvider = Annotated[
    str, StringConstraints(pattern=r"^(awskms|azurekeyvault|gcpkms|hashivault)://[^\s]+$", max_length=500)
]


class StateSettings(Model):
    """Backend of Pulumi's state. Every operator needs the same one: with another, `up` builds everything again."""

    backend: Backend = Field(
        description="local: a folder of this operator; s3://BUCKET?region=REGION, or another backend of Pulumi: shared"
    )
    secrets_provider: SecretsProvider | None = Field(
        default=None,
        description="encrypts the state's secrets, as awskms://alias/NAME?region=REGION; none: a passphrase on the "
        "operator's machine",
    )

    @property
    def is_local(self) -> bool:
        """Return true if the state is in a folder of the operator."""
        return self.backend == "local"
