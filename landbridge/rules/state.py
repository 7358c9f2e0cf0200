"""Rules about the backend of Pulumi's state."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.registry import rule


@rule(public_aws=True)
def state_not_chosen(environment: Environment) -> Iterator[Finding]:
    """An environment whose data is protected has a chosen state backend: without the state, Pulumi builds everything again.

    Without `state` in the file, the state is in a folder of the operator who runs `up` first, unless an environment
    variable says otherwise. A second operator does not have it.
    Source: Pulumi documentation, "State and backends".
    """
    if environment.aws.protect and environment.state is None:
        message = (
            "the file does not say where Pulumi's state is; another operator would build every resource a second time"
        )
        fix = "write state: {backend: s3://BUCKET?region=REGION, secrets_provider: awskms://alias/NAME?region=REGION}, or {backend: local}"
        yield warning(("state",), message, fix=fix, related=(("aws", "protect"),))


@rule
def state_secrets_provider(environment: Environment) -> Iterator[Finding]:
    """A shared state has a secrets provider: a passphrase on one machine locks out other operators.

    Pulumi Cloud (https) encrypts secrets itself.
    Source: Pulumi documentation, "Secrets": the default provider of a self-managed backend is a passphrase.
    """
    state = environment.state
    if state is None or state.is_local or state.backend.startswith("https://") or state.secrets_provider is not None:
        return
    path: DataPath = ("state", "backend")
    message = f"the secrets in {state.backend} are encrypted with a passphrase that only this operator has"
    yield error(path, message, fix="write secrets_provider: awskms://alias/NAME?region=REGION")
