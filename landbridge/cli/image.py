"""Commands `landbridge image build`, `status` and `verify`: build node images in AWS, and check them."""

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json, require

if TYPE_CHECKING:
    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal
    from landbridge.environment import Environment

Name = Annotated[str, typer.Argument(help="Name of an image in aws.images with build:.")]
Host = Annotated[str | None, typer.Option(help="user@address of a machine started from the image; none: this machine.")]
PoolName = Annotated[str | None, typer.Option("--pool", help="Pool that boots the image; none: all pools.")]
Running = Annotated[bool, typer.Option("--running", help="Check a running node: also its GPUs and EFA devices.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Build node images in AWS with the on-prem nodes' roles.")
    group.command()(build)
    group.command()(status)
    group.command()(verify)
    app.add_typer(group, name="image")


def build(name: Name, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Start the pipeline of an image. A build takes up to an hour: `landbridge image status` shows progress;
    `landbridge lock` records the image afterwards.

    Exit status: 0 started, 1 no such pipeline, 2 AWS could not be queried.
    """
    from landbridge.aws_api.refusal import AwsRefusal
    from landbridge.live.image_builder import start

    environment = require(stack, file)
    aws, arn = _pipeline(environment, name)
    try:
        version = start(aws, arn)
    except AwsRefusal as refused:
        _refused(refused)
    if form is Format.JSON:
        print_json({"environment": environment.name, "image": name, "version": version})
        return
    typer.echo(f"{environment.name}-{name} {version} is being built")
    typer.echo(
        f"when landbridge image status {name} -s {environment.name} shows it as ready, run landbridge lock --upgrade"
    )


def status(name: Name, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List the builds of an image's pipeline, newest first.

    Exit status: 0 the newest build is ready or in progress, 1 it failed or there is none, 2 AWS could not be queried.
    """
    from landbridge.aws_api.refusal import AwsRefusal
    from landbridge.live.image_builder import built

    environment = require(stack, file)
    aws, arn = _pipeline(environment, name)
    try:
        builds = built(aws, arn, environment.region)
    except AwsRefusal as refused:
        _refused(refused)
    if form is Format.JSON:
        print_json(
            {
                "environment": environment.name,
                "image": name,
                "builds": [image_build.to_dict() for image_build in builds],
            }
        )
    else:
        for image_build in builds:
            typer.echo(
                f"{image_build.version:<16} {image_build.status:<12} {image_build.created:<32} {image_build.ami or image_build.why or ''}".rstrip()
            )
        if not builds:
            typer.echo(f"{name} has not been built: landbridge image build {name} -s {environment.name}")
    raise typer.Exit(0 if builds and builds[0].status not in ("failed", "cancelled", "deprecated", "deleted") else 1)


def verify(
    stack: Stack = None,
    file: File = None,
    host: Host = None,
    pool: PoolName = None,
    running: Running = False,
    form: Form = Format.TEXT,
) -> None:
    """Check a machine against the contract of a node image.

    Example: landbridge image verify --host ubuntu@10.60.0.7 --pool p5 -s acme

    Nothing is installed on the machine. Exit status: 0 it fulfils the contract, 1 it lacks something, 2 it could not be
    checked.
    """
    from landbridge.findings import Finding, did_you_mean
    from landbridge.ops.node_verify import NodeVerifyError
    from landbridge.ops.node_verify import verify as verified
    from landbridge.plan.aws.node_contract import image_expectations, pool_expectations

    environment = require(stack, file)
    pools = {settings.name: settings for settings in environment.aws.pools}
    if pool is not None and pool not in pools:
        near = did_you_mean(pool, pools)
        fix = f"did you mean {near}?" if near else f"known: {', '.join(pools) or 'none'}"
        print_findings([Finding("unknown-pool", f"aws.pools has no {pool}", ("aws", "pools"), fix)])
        raise typer.Exit(2)
    chosen = pools[pool] if pool is not None else None
    expectations = {
        "image": image_expectations(environment, chosen.image if chosen is not None else None),
        "verify": pool_expectations(environment, chosen) if chosen is not None else {},
    }
    try:
        lacks = verified(expectations, "boot" if running else "image", host)
    except NodeVerifyError as error:
        typer.echo(f"{host or 'this machine'} could not be checked: {error}", err=True)
        raise typer.Exit(2) from None
    errors = [lack for lack in lacks if lack.level == "error"]
    if form is Format.JSON:
        print_json({"environment": environment.name, "host": host, "lacks": [lack.to_dict() for lack in lacks]})
    else:
        for lack in lacks:
            typer.echo(f"{lack.level}: {lack.check}: {lack.message}\n    {lack.fix}")
        typer.echo(f"{host or 'this machine'}: {len(errors) or 'no'} errors")
    raise typer.Exit(1 if errors else 0)


def _pipeline(environment: "Environment", name: str) -> "tuple[AwsClient, str]":
    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal
    from landbridge.findings import Finding, did_you_mean
    from landbridge.live.image_builder import pipeline
    from landbridge.plan.fips import fips_services

    builds = [image_name for image_name, source in environment.aws.images.items() if source.build is not None]
    if name not in builds:
        near = did_you_mean(name, builds)
        fix = f"did you mean {near}?" if near else f"known: {', '.join(builds) or 'none'}"
        print_findings([Finding("unknown-image", f"aws.images has no {name} with build:", ("aws", "images"), fix)])
        raise typer.Exit(1)
    aws = AwsClient(environment.region, environment.aws.endpoints.operator, fips_services=fips_services(environment))
    try:
        arn = pipeline(aws, environment.name, name)
    except AwsRefusal as refused:
        _refused(refused)
    if arn is None:
        message = f"there is no pipeline {environment.name}-{name} in {environment.region}"
        fix = f"landbridge up -s {environment.name} creates it"
        print_findings([Finding("live-image-built", message, ("aws", "images", name, "build"), fix)])
        raise typer.Exit(1)
    return aws, arn


def _refused(refused: "AwsRefusal") -> NoReturn:
    from landbridge.aws_api.refusal import finding_of

    print_findings([finding_of(refused, "images")])
    raise typer.Exit(2) from None
