"""Environment key `secrets`: the store of the site's secrets."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model

#: A path outside the checkout: the password must not be committed beside the file that it decrypts.
OperatorPath = Annotated[str, StringConstraints(pattern=r"^(~/|/)[^\x00-\x1f]*$", max_length=500)]
StoreFile = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._/-]*\.yaml$", max_length=200)]


class SecretsSettings(Model):
    """Store of the site's secrets: Slurm's keys, database passwords, and passwords of MLflow."""

    store: Literal["local", "ansible-vault", "sops"] = Field(
        default="local",
        description="local: files in the operator's secrets folder, generated at first use; ansible-vault or sops: an "
        "encrypted file beside this file, the same for every operator; only `landbridge secrets init` generates values",
    )
    file: StoreFile | None = Field(
        default=None, description="the encrypted file, from this file's folder; none: secrets.ENV.yaml"
    )
    password_file: OperatorPath | None = Field(
        default=None,
        description="ansible-vault: file with the password, or program that prints it; none: ANSIBLE_VAULT_PASSWORD_FILE",
    )

    @property
    def is_local(self) -> bool:
        """Return true if each operator has a folder of secrets."""
        return self.store == "local"
