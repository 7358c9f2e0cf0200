"""Commands `landbridge image build` and `status`: build node images in AWS."""

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from landbridge.cli.common import File, Format, Stack, print_findings, print_json, require

if TYPE_CHECKING:
    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal
    from landbridge.environment import Environment

Name = Annotated[str, typer.Argument(help="A name of aws.images that has build:.")]
Form = Annotated[Format, typer.Option("--format", help="Output format: text, or json for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(
        no_args_is_help=True, help="Build images of nodes in AWS with the roles that configure nodes on-prem."
    )
    group.command()(build)
    group.command()(status)
    app.add_typer(group, name="image")


def build(name: Name, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """Start the pipeline of an image. It takes up to an hour: `landbridge image status` shows progress; `landbridge
    lock` records the image afterwards.

    Exit status: 0 started, 1 there is no such pipeline, 2 AWS could not be asked.
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
        f"wait until landbridge image status {name} -s {environment.name} shows it ready; then landbridge lock --upgrade"
    )


def status(name: Name, stack: Stack = None, file: File = None, form: Form = Format.TEXT) -> None:
    """List the builds of an image's pipeline, newest first.

    Exit status: 0 the newest is ready or under way, 1 it failed or there is none, 2 AWS could not be asked.
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


def _pipeline(environment: "Environment", name: str) -> "tuple[AwsClient, str]":
    from landbridge.aws_api.client import AwsClient
    from landbridge.aws_api.refusal import AwsRefusal
    from landbridge.findings import Finding, did_you_mean
    from landbridge.live.image_builder import pipeline

    builds = [image_name for image_name, source in environment.aws.images.items() if source.build is not None]
    if name not in builds:
        near = did_you_mean(name, builds)
        fix = f"did you mean {near}?" if near else f"known: {', '.join(builds) or 'none'}"
        print_findings([Finding("unknown-image", f"aws.images has no {name} with build:", ("aws", "images"), fix)])
        raise typer.Exit(1)
    aws = AwsClient(environment.region, environment.aws.endpoints.operator)
    try:
        arn = pipeline(aws, environment.name, name)
    except AwsRefusal as refused:
        _refused(refused)
    if arn is None:
        message = f"there is no pipeline {environment.name}-{name} in {environment.region}"
        fix = f"landbridge up -s {environment.name} makes it"
        print_findings([Finding("live-image-built", message, ("aws", "images", name, "build"), fix)])
        raise typer.Exit(1)
    return aws, arn


def _refused(refused: "AwsRefusal") -> NoReturn:
    from landbridge.aws_api.refusal import finding_of

    print_findings([finding_of(refused, "images")])
    raise typer.Exit(2) from None
