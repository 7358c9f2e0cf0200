"""Command `landbridge show`: an environment with its defaults."""

from typing import TYPE_CHECKING, Annotated

import typer

from landbridge.cli.common import File, Format, Stack, exit_code, load, print_findings, require

if TYPE_CHECKING:
    from landbridge.environment import Environment
    from landbridge.plan.slurm.nodes import Nodes

Expanded = Annotated[
    bool, typer.Option("--expanded", help="Print the full file with every default; it can be loaded again.")
]
SlurmFiles = Annotated[
    bool, typer.Option("--slurm", help="Slurm's files for a cluster whose slurm.conf Landbridge does not write.")
]
ServiceControlPolicy = Annotated[
    bool, typer.Option("--scp", help="Service control policy for the account, without spaces, as JSON.")
]
GatewaySheet = Annotated[
    bool,
    typer.Option("--gateway-sheet", help="Settings of the site's end of the link, for your own firewall or router."),
]
DashboardName = Annotated[
    str | None,
    typer.Option("--dashboard", metavar="NAME", help="Dashboard for Grafana's import, as JSON, such as overview."),
]
Form = Annotated[Format, typer.Option("--format", help="Output format of --gateway-sheet: text, or json.")]
Ports = Annotated[bool, typer.Option("--ports", help="Open ports between hosts, from the firewall rules.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)


def show(
    stack: Stack = None,
    file: File = None,
    expanded: Expanded = False,
    ports: Ports = False,
    slurm: SlurmFiles = False,
    scp: ServiceControlPolicy = False,
    gateway_sheet: GatewaySheet = False,
    dashboard: DashboardName = None,
    form: Form = Format.TEXT,
) -> None:
    """Show an environment. Prints a summary, the full file with every default, the ports between its hosts, the files
    of a Slurm that runs already, a service control policy, the settings of the link's end at the site, or a dashboard.
    Example: landbridge show -s hybrid --scp
    """
    if dashboard is not None:
        _dashboard(dashboard)
        return
    environment = require(stack, file)
    if gateway_sheet:
        _gateway_sheet(environment, form)
        return
    if scp:
        _service_control_policy(environment)
        return
    if slurm:
        from landbridge.plan.slurm.existing import existing_files

        for name, text in existing_files(environment).items():
            typer.echo(f"==> {name} <==\n{text}", nl=False)
        return
    if ports:
        from landbridge.plan.site.firewall import firewall_rule_lines

        for line in firewall_rule_lines(environment):
            typer.echo(line)
        return
    if expanded:
        from landbridge.environment.file.expanded import expanded as written

        typer.echo(written(load(stack, file)), nl=False)
        return
    from landbridge.plan.network.hosts import service_hosts
    from landbridge.plan.site.health import change_text
    from landbridge.plan.slurm.nodes import cloud_nodes, onprem_nodes
    from landbridge.plan.slurm.partitions import partition_names

    typer.echo(f"environment  {environment.name} in {environment.region}, owned by {environment.owner}")
    served = service_hosts(environment)
    typer.echo(f"{'on-prem' if served.site == 'onprem' else 'services':<12} {served.cidr}")
    if environment.existing_slurm is not None:
        typer.echo(f"  Slurm cluster {environment.existing_slurm.cluster}, configured by others")
    for group, written_group in zip(onprem_nodes(environment), environment.node_groups, strict=True):
        typer.echo(f"  {group.hostlist:<14} {len(group.names)} x {_hardware(group)}, {group.switch}")
        for change in written_group.health:
            typer.echo(f"    health check {change_text(change)}")
    for name, address in served.addresses.items():
        typer.echo(f"  {name:<14} {address}")
    typer.echo(f"AWS          {environment.aws.cidr}")
    for group, pool in zip(cloud_nodes(environment), environment.aws.pools, strict=True):
        kinds = ", then ".join(capacity.kind for capacity in pool.capacity)
        size = f"up to {pool.max_nodes} x {_hardware(group)}"
        typer.echo(f"  {group.hostlist:<14} {size} ({pool.instance}), {kinds}")
        for event, _, script in pool.actions.scripts():
            limit = f"{script.timeout} s at most"
            typer.echo(
                f"    {event:<15} {' '.join((script.script, *script.arguments))}, {limit}, sha256 {script.sha256[:12]}…"
            )
    link = environment.link
    if link is not None:
        typer.echo(f"link         {link.kind}, AS {link.onprem_asn} to AS {link.aws_asn}")
        for name, site in link.sites.items():
            typer.echo(f"  {name:<14} {site.cidr} through {site.gateway} ({site.gateway_addresses[0]}), AS {site.asn}")
    typer.echo(f"queues       {', '.join(partition_names(environment))}")
    accounts = [f"{name} ({account.data_class})" for name, account in environment.scheduler.accounts.items()]
    typer.echo(f"accounts     {', '.join(accounts) or 'none'}")
    for name, data_class in environment.data_classes.items():
        typer.echo(f"data         {name}: {', '.join(data_class.sites)}")


def _dashboard(name: str) -> None:
    """Print a dashboard, which is the same for every environment. Raises a usage error for an unknown name."""
    from landbridge.catalog.observability.dashboards import dashboards
    from landbridge.cli.common import print_json
    from landbridge.report.dashboards.grafana import grafana_json

    known = dashboards()
    if name not in known:
        raise typer.BadParameter(f"{name} is not one of {', '.join(known)}", param_hint="--dashboard")
    print_json(grafana_json(name, known[name]))


def _gateway_sheet(environment: "Environment", form: Format) -> None:
    from landbridge.cli.common import print_json, stack_outputs
    from landbridge.plan.site.link.gateway_sheet import gateway_sheet, sheet_lines

    if environment.link is None:
        raise typer.BadParameter(f"{environment.name} has no link between sites", param_hint="--gateway-sheet")
    sheet = gateway_sheet(environment, stack_outputs(environment))
    if form is Format.JSON:
        print_json(sheet)
        return
    for line in sheet_lines(sheet):
        typer.echo(line)


def _service_control_policy(environment: "Environment") -> None:
    from landbridge.plan.placement.service_control_policy import service_control_policy, size_findings

    text = service_control_policy(environment)
    typer.echo(text)
    findings = size_findings(text)
    if findings:
        print_findings(findings)
        raise typer.Exit(exit_code(findings))


def _hardware(nodes: "Nodes") -> str:
    """Return the hardware of one compute node: `8 h100`, or its processors if it has no accelerator."""
    accelerators = nodes.accelerators
    return f"{accelerators.count} {accelerators.type}" if accelerators else f"{nodes.cpus} CPUs"
