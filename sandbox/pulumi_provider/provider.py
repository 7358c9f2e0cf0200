"""Stand-in of `pulumi-resource-aws`: it checks inputs strictly, and creates the resources in the emulated AWS."""

import json
import re
import threading
from typing import Any

import grpc
import pulumi_aws
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc
from pulumi.runtime.proto import provider_pb2 as pb

from sandbox.pulumi_provider import serialization
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, AwsResource, EmulatedAws, ProviderError
from sandbox.pulumi_provider.aws.invokes import invoke
from sandbox.pulumi_provider.checks import sdk_args
from sandbox.pulumi_provider.checks.all_checks import all_problems
from sandbox.pulumi_provider.partial_creation import PartialCreation, create, update
from sandbox.pulumi_provider.plugin import serve
from sandbox.pulumi_provider.serialization import Bag

VERSION = re.sub(r"^[v=]+", "", pulumi_aws._utilities.get_version())


class AwsProvider(provider_pb2_grpc.ResourceProviderServicer):
    """gRPC service of the provider. The engine stores the state, the emulated AWS the resources."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._cloud: EmulatedAws | None = None
        # The SDK loads its modules lazily, which is not safe in several threads at once.
        self._checking = threading.Lock()

    def Handshake(self, request: Any, context: Any) -> Any:
        return pb.ProviderHandshakeResponse(accept_secrets=False, accept_resources=False, accept_outputs=False)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        self.stopped.set()
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        # The SDK sends a provider's nested inputs as JSON text.
        inputs = _decoded(serialization.plain(request.news))
        return pb.CheckResponse(inputs=request.news, failures=self._failures(sdk_args.PROVIDER, inputs))

    def DiffConfig(self, request: Any, context: Any) -> Any:
        changed = _changed(serialization.plain(request.old_inputs), serialization.plain(request.news))
        replaces = [key for key in changed if key == "region"]
        kind = pb.DiffResponse.DIFF_SOME if changed else pb.DiffResponse.DIFF_NONE
        return pb.DiffResponse(changes=kind, diffs=sorted(changed), replaces=replaces)

    def Configure(self, request: Any, context: Any) -> Any:
        inputs = _decoded(serialization.plain(request.args))
        endpoints = {url for group in inputs.get("endpoints", []) for url in group.values()}
        if len(endpoints) != 1:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                "this is the sandbox's stand-in for the AWS provider: it needs one endpoint of an emulated AWS "
                "(aws.endpoints.operator in the environment file); for the real AWS, take this folder off PATH",
            )
        try:
            self._cloud = EmulatedAws(endpoints.pop(), inputs.get("region", "us-east-1"))
        except ProviderError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        return pb.ConfigureResponse(acceptSecrets=False, acceptResources=False, supportsPreview=False)

    def Check(self, request: Any, context: Any) -> Any:
        token, inputs = _token(request.urn), serialization.plain(request.news)
        if token not in RESOURCE_TYPES:
            reason = f"the sandbox has no resource type {token}"
            return pb.CheckResponse(inputs=request.news, failures=[pb.CheckFailure(property="", reason=reason)])
        failures = self._failures(token, inputs)
        named = _autonamed(RESOURCE_TYPES[token], request, inputs)
        return pb.CheckResponse(inputs=serialization.struct(named), failures=failures)

    def Diff(self, request: Any, context: Any) -> Any:
        olds, news = serialization.plain(request.old_inputs), serialization.plain(request.news)
        changed, kind = _changed(olds, news), RESOURCE_TYPES[_token(request.urn)]
        replaces = sorted(kind.replaced_by(olds, news, frozenset(changed)))
        some = pb.DiffResponse.DIFF_SOME if changed else pb.DiffResponse.DIFF_NONE
        # As the real provider does: a resource with a fixed name is deleted before its replacement is created.
        first = bool(replaces) and kind.autoname is not None and kind.autoname not in changed
        return pb.DiffResponse(changes=some, diffs=sorted(changed), replaces=replaces, deleteBeforeReplace=first)

    def Create(self, request: Any, context: Any) -> Any:
        inputs = serialization.plain(request.properties)
        if request.preview:
            return pb.CreateResponse(id="", properties=request.properties)
        id_, outputs = self._do(context, request.urn, inputs, lambda kind: create(kind, inputs))
        return pb.CreateResponse(id=id_, properties=serialization.struct(_state(inputs, outputs)))

    def Read(self, request: Any, context: Any) -> Any:
        state, inputs = serialization.plain(request.properties), serialization.plain(request.inputs)
        seen = self._do(context, request.urn, state or inputs, lambda kind: kind.read(request.id, state or inputs))
        if seen is None:
            return pb.ReadResponse()
        # Only inputs are compared: defaults set by AWS are not drift.
        drifted = {**inputs, **{key: seen[key] for key in inputs if key in seen}}
        return pb.ReadResponse(
            id=request.id, properties=serialization.struct({**state, **seen}), inputs=serialization.struct(drifted)
        )

    def Update(self, request: Any, context: Any) -> Any:
        state, inputs = serialization.plain(request.olds), serialization.plain(request.news)
        old_inputs = serialization.plain(request.old_inputs)
        if request.preview:
            return pb.UpdateResponse(properties=serialization.struct({**state, **inputs}))
        changed = frozenset(_changed(old_inputs, inputs))
        outputs = self._do(context, request.urn, inputs, lambda kind: update(kind, request.id, state, inputs, changed))
        retained = {key: value for key, value in state.items() if key not in old_inputs}
        return pb.UpdateResponse(properties=serialization.struct({**retained, **_state(inputs, outputs)}))

    def Delete(self, request: Any, context: Any) -> Any:
        state = serialization.plain(request.properties)
        self._do(context, request.urn, state, lambda kind: kind.delete(request.id, state))
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        answer = self._guarded(
            context, lambda: invoke(self._connected(), request.tok, serialization.plain(request.args))
        )
        return pb.InvokeResponse(**{"return": serialization.struct(answer)})

    def GetSchema(self, request: Any, context: Any) -> Any:
        return pb.GetSchemaResponse(schema="{}")

    def _failures(self, token: str, inputs: Bag) -> list[Any]:
        with self._checking:
            problems = list(all_problems(token, inputs))
        return [pb.CheckFailure(property=sdk_args.spell(path), reason=reason) for path, reason in problems]

    def _connected(self) -> EmulatedAws:
        if self._cloud is None:
            raise ProviderError("the provider has not been configured")
        return self._cloud

    def _do(self, context: Any, urn: str, bag: Bag, act: Any) -> Any:
        """Call `act` with the resource type, in the region of the resource or else of the provider."""
        return self._guarded(context, lambda: act(RESOURCE_TYPES[_token(urn)](self._connected().at(bag.get("region")))))

    def _guarded(self, context: Any, act: Any) -> Any:
        """Call `act`; convert an exception into the message that Pulumi prints for the resource."""
        try:
            return act()
        except PartialCreation as error:
            error.report(context)
        except ProviderError as error:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, str(error))
        except ClientError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))
        except (BotoCoreError, ResponseParserError) as error:
            context.abort(grpc.StatusCode.UNAVAILABLE, f"the emulated AWS does not answer as AWS would: {error}")


def _token(urn: str) -> str:
    return urn.split("::")[2].rsplit("$", 1)[-1]


def _state(inputs: Bag, outputs: Bag) -> Bag:
    tags = {"tagsAll": inputs["tags"]} if "tags" in inputs else {}
    return {**inputs, **tags, **{key: value for key, value in outputs.items() if value is not None}}


def _changed(old: Bag, new: Bag) -> set[str]:
    return {
        key for key in {*old, *new} if serialization.comparable(old.get(key)) != serialization.comparable(new.get(key))
    }


def _autonamed(kind: type[AwsResource], request: Any, inputs: Bag) -> Bag:
    """Add a name in Pulumi's form to a resource without a name; a name of an earlier run is reused."""
    key = kind.autoname
    if key is None or key in inputs or f"{key}Prefix" in inputs:
        return inputs
    before = serialization.plain(request.olds).get(key)
    suffix = bytes(request.randomSeed).hex()[:7]
    return {**inputs, key: before or f"{request.urn.rsplit('::', 1)[-1]}-{suffix}".lower()}


def _decoded(inputs: Bag) -> Bag:
    """Decode a provider's inputs: the SDK sends every value that is not a string as JSON text."""
    kinds = sdk_args.fields(pulumi_aws.ProviderArgs)

    def decode(key: str, value: Any) -> Any:
        text = key not in kinds or str in sdk_args.alternatives(kinds[key][0])
        try:
            return value if text or not isinstance(value, str) else json.loads(value)
        except ValueError:
            return value

    # `version` is set by the engine: the requested version of the plugin.
    return {key: decode(key, value) for key, value in inputs.items() if key not in ("version", "pluginDownloadURL")}


def before_fork() -> None:
    """Read the service models of most stacks; forks of this process have them."""
    clients = EmulatedAws("http://127.0.0.1:9", "us-east-1")
    for service in (
        "ec2",
        "iam",
        "kms",
        "s3",
        "secretsmanager",
        "sns",
        "sts",
        "ssm",
        "events",
        "lambda",
        "logs",
        "budgets",
    ):
        clients.client(service)


def main(parent: int) -> None:
    """Run as a plugin of the engine; `parent` is the engine's process id."""
    provider = AwsProvider()
    serve(provider, provider_pb2_grpc.add_ResourceProviderServicer_to_server, provider.stopped, parent)
