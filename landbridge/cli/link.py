"""Group `landbridge link`: the tunnels between the sites."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Stack, environment_path, print_findings, require

if TYPE_CHECKING:
    from landbridge.aws_api.client import AwsClient
    from landbridge.environment import Environment

Address = Annotated[str, typer.Argument(help="AWS's outside address of the tunnel, from `landbridge outputs`.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    link = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Manage the tunnels between the sites.")
    link.callback()(lambda: None)
    link.command("renew-key")(renew_key)
    app.add_typer(link, name="link")


def renew_key(address: Address, stack: Stack = None, file: File = None) -> None:
    """Set a new pre-shared key of one tunnel.

    The key is set in AWS, in Pulumi's state and on this machine. AWS changes the tunnel for some minutes, in which it is down; the site's gateway needs the new key afterwards. ansible/playbooks/rotate_tunnel_keys.yml runs this command for one tunnel after the other, while the others are up.

    Example: landbridge link renew-key 198.51.100.10 -s acme
    """
    from landbridge.aws_api.refusal import AwsRefusal, finding_of
    from landbridge.live.tunnel_keys import TunnelNotReady
    from landbridge.realise.pulumi import PulumiFailed

    environment = require(stack, file)
    try:
        _renew(environment, stack, file, address)
    except AwsRefusal as refused:
        print_findings([finding_of(refused, f"the tunnel {address}")])
        raise typer.Exit(2) from None
    except (PulumiFailed, TunnelNotReady) as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"{address}: AWS has the new key; the site's gateway needs it next")


def _renew(environment: "Environment", stack: Stack, file: File, address: str) -> None:
    from landbridge.cli.stack.sweep import connect
    from landbridge.live.tunnel_keys import new_key, require_available, set_key, wait_until_available
    from landbridge.ops.secrets.store import write_private
    from landbridge.realise import pulumi
    from landbridge.realise.tunnel_keys import find_tunnel, read_keys, refresh_tunnel

    path = environment_path(stack, file)
    outputs = pulumi.outputs(environment, path)
    if outputs is None:
        typer.echo(f"{environment.name}: nothing has been built", err=True)
        raise typer.Exit(1)
    tunnel = find_tunnel(environment, path, outputs, address)
    keys = read_keys(tunnel)

    def client() -> "AwsClient":
        return connect(environment)

    require_available(client, tunnel.connection)
    # If this run ends between two steps, a repeated run sets another key.
    keys[tunnel.position] = new_key()
    set_key(client, tunnel.connection, address, keys[tunnel.position])
    write_private(tunnel.keys_path, f"{json.dumps(keys, indent=2)}\n".encode())
    wait_until_available(client, tunnel.connection)
    refresh_tunnel(environment, path, tunnel)
