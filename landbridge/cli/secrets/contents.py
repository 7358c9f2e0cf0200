"""Commands `landbridge secrets init` and `list`."""

from typing import Annotated

import typer

from landbridge.cli.common import File, Format, Stack, print_json
from landbridge.cli.secrets.common import environment_and_store, failed, own_folder

Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(secrets: typer.Typer) -> None:
    """Add the commands."""
    secrets.command()(init)
    secrets.command("list")(show)


def init(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Generate the secrets that the environment's store lacks.

    No present secret changes, and repeating the command changes nothing. If this machine's folder has secrets that an encrypted file lacks, the command refuses: a running cluster has them.

    Example: landbridge secrets init -s acme
    """
    from landbridge.ops.secrets.cipher import SecretsError
    from landbridge.ops.secrets.status import missing_secrets, other_values
    from landbridge.ops.secrets.store import new_value
    from landbridge.plan.site.secrets import generated_secrets

    environment, store = environment_and_store(stack, file)
    try:
        missing = missing_secrets(environment, store)
        folder = own_folder(environment)
        if store.shared and set(missing) & set(other_values(store, folder)):
            raise SecretsError(
                f"{folder.place} has secrets that {store.place} lacks: landbridge secrets import -s {environment.name} copies them"
            )
        forms = generated_secrets(environment)
        if missing:
            store.write({name: new_value(forms[name]) for name in missing})
    except (SecretsError, OSError) as error:
        raise failed(error) from None
    if form is Format.JSON:
        print_json({"store": store.place, "generated": list(missing)})
        return
    typer.echo(f"{store.place}: {f'{len(missing)} generated: ' + ', '.join(missing) if missing else 'complete'}")


def show(stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List the site's secrets by name.

    It shows whether the store has each of them. Exit status 1: a secret is missing. Example: landbridge secrets list -s acme
    """
    from landbridge.ops.secrets.cipher import SecretsError
    from landbridge.ops.secrets.status import missing_secrets, secret_uses

    environment, store = environment_and_store(stack, file)
    try:
        present, missing = store.read(), missing_secrets(environment, store)
    except (SecretsError, OSError) as error:
        raise failed(error) from None
    uses = secret_uses(environment)
    states = {name: "present" if name in present else "missing" if name in missing else "not used" for name in uses}
    states |= {name: "unknown" for name in present if name not in uses}
    if form is Format.JSON:
        rows = [{"name": name, "state": state, "use": uses.get(name)} for name, state in states.items()]
        print_json({"store": store.place, "shared": store.shared, "secrets": rows})
    else:
        typer.echo(store.place)
        for name, state in states.items():
            typer.echo(f"  {name:<24} {state:<9} {uses.get(name, 'nothing reads it')}".rstrip())
    if missing:
        raise typer.Exit(1)
