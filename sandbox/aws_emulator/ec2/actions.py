"""EC2 actions implemented here instead of in moto: one function per action, registered on moto's response class."""

from collections.abc import Callable
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.models.instances import InstanceState
from moto.ec2.models.subnets import Subnet
from moto.ec2.responses import EC2Response

from sandbox.aws_emulator import model_registry as models
from sandbox.aws_emulator import training_jobs
from sandbox.aws_emulator.ec2 import capacity_reservations as reservations
from sandbox.aws_emulator.ec2 import (
    console_output,
    descriptions,
    images,
    instance_status,
    instance_topology,
    metadata_tags,
    quotas,
    termination_protection,
    volume_modifications,
)
from sandbox.aws_emulator.ec2 import instance_types as types
from sandbox.aws_emulator.ec2 import placement_groups as placement
from sandbox.aws_emulator.ec2 import resource_groups as groups
from sandbox.aws_emulator.ec2 import stop_and_volumes as machines
from sandbox.aws_emulator.ec2.launches import create_fleet as fleet
from sandbox.aws_emulator.ec2.launches import disk_keys, launch, launch_authorization, launch_template_versions
from sandbox.aws_emulator.ec2.launches import run_instances_checks as requests
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import aws_managed_policies as managed
from sandbox.aws_emulator.identity import service_linked_roles
from sandbox.aws_emulator.instances.lifecycle import TERMINATED
from sandbox.aws_emulator.network import dependencies, endpoint_services, resolver, shared_vpcs, vpn_tunnels
from sandbox.aws_emulator.network import direct_connect as lines
from sandbox.aws_emulator.network import transit_gateway_attachments as attachments
from sandbox.aws_emulator.network import transit_gateway_peering as peering
from sandbox.aws_emulator.network import transit_gateway_route_tables as transit
from sandbox.aws_emulator.server.errors import CloudError, render
from sandbox.aws_emulator.storage import efs, fsx, rds

Action = Callable[[EmulatorState, Any], Any]


def install(emulator: EmulatorState) -> None:
    """Install the actions in moto's EC2, for `emulator`. Global to the process, as moto's state is."""
    for name, action in ACTIONS.items():
        setattr(EC2Response, name, _method(emulator, action))
    Subnet.get_available_subnet_ip = _choose_address(emulator)
    free = property(lambda subnet: emulator.addresses.free(subnet.cidr, subnet._subnet_ips))
    Subnet.available_ip_address_count = free
    for other in (
        resolver,
        models,
        training_jobs,
        quotas,
        groups,
        images,
        metadata_tags,
        launch_template_versions,
        fsx,
        efs,
        dependencies,
        descriptions,
        attachments,
        machines,
        volume_modifications,
        managed,
        rds,
    ):
        other.install(emulator)
    for network in (transit, peering, lines, vpn_tunnels, shared_vpcs, endpoint_services):
        network.install(emulator)


def _method(emulator: EmulatorState, action: Action) -> Callable[[Any], Any]:
    def method(response: Any) -> Any:
        try:
            if action is not _run_instances:
                response.error_on_dryrun()
            result = action(emulator, response)
        except CloudError as error:
            emulator.errors[error.code] += 1
            # moto's serialiser has no status codes for EC2's errors; 500 and 503 are needed here.
            _, headers, body = render(error, "ec2", "")
            return error.status, {**headers, "status": error.status}, body.decode()
        return EmptyResult() if result is None else ActionResult(result)

    return method


def _choose_address(emulator: EmulatorState) -> Callable[[Any, Any], str]:
    def choose(subnet: Any, instance: Any) -> str:
        reserved = {str(address) for cidr_reservation in subnet._cidr_reservations for address in cidr_reservation.cidr}
        address = emulator.addresses.choose(subnet.cidr, {*subnet._subnet_ips, *reserved})
        subnet._subnet_ips[address] = instance
        subnet._unused_ips.discard(address)
        return address

    return choose


def _parameters(response: Any) -> dict[str, Any]:
    return dict(response.params)


def _run_instances(emulator: EmulatorState, response: Any) -> Any:
    request, backend = _parameters(response), response.ec2_backend
    token = request.pop("ClientToken", None)
    minimum, maximum = int(request.pop("MinCount", 1)), int(request.pop("MaxCount", 1))
    if not 1 <= minimum <= maximum:
        raise CloudError("InvalidParameterValue", f"MinCount {minimum} and MaxCount {maximum} are not a valid range.")
    requests.check(request)
    launch_authorization.authorize_launch(emulator, response, request)
    if str(request.pop("DryRun", "")).lower() == "true":
        # A dry run checks permission and the request; it does not check capacity.
        merged = requests.resolve(backend, request)
        service_linked_roles.require_for_spot(emulator, response, launch.market(merged), dry_run=True)
        launch.check(emulator, backend, merged, minimum)
        raise CloudError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
    parameters, is_repeated = {**request, "MinCount": minimum, "MaxCount": maximum}, True

    def answer() -> Any:
        nonlocal is_repeated
        is_repeated = False
        merged = requests.resolve(backend, request)
        service_linked_roles.require_for_spot(emulator, response, launch.market(merged))
        failure = disk_keys.failure(emulator, response, merged)
        failure = failure or quotas.volume_failure(emulator, backend, merged, maximum)
        return launch.run(emulator, backend, merged, minimum, maximum, token, failure)

    with emulator.lock:
        reservation = emulator.tokens.once(f"RunInstances/{backend.region_name}", token, parameters, answer)
        if is_repeated:
            launch.refuse_terminated(reservation)
    return reservation


def _create_fleet(emulator: EmulatorState, response: Any) -> Any:
    request, backend = _parameters(response), response.ec2_backend
    with emulator.lock:
        scope = f"CreateFleet/{backend.region_name}"
        return emulator.tokens.once(
            scope, request.get("ClientToken"), request, lambda: fleet.create(emulator, backend, request)
        )


def _terminate_instances(emulator: EmulatorState, response: Any) -> Any:
    backend, ids = response.ec2_backend, list(_parameters(response).get("InstanceIds") or [])
    launch_authorization.authorize_termination(emulator, response, ids)
    with emulator.lock:
        permitted, refusal = termination_protection.divide(backend.get_multi_instances_by_id(ids))
        changes = (
            terminate(emulator, backend, permitted, "Client.UserInitiatedShutdown") if permitted or not ids else []
        )
    if refusal is not None:
        raise refusal
    return {"TerminatingInstances": changes}


def terminate(emulator: EmulatorState, backend: Any, ids: list[str], reason: str) -> list[dict[str, Any]]:
    """Terminate instances, also protected ones; terminated ones stay as they are. Return the changes in the API's
    shape."""
    before = {i.id: (i.state, i.state_code) for i in backend.get_multi_instances_by_id(ids)}
    for instance in backend.get_multi_instances_by_id(ids):
        instance.disable_api_termination = False
    alive = [instance_id for instance_id in ids if before[instance_id][0] not in ("terminated", "shutting-down")]
    if alive or not ids:
        backend.terminate_instances(alive)
    for instance_id in alive:
        instance = backend.get_instance(instance_id)
        launch.release(emulator, instance)
        instance._state = InstanceState(*TERMINATED)
        emulator.lifecycle.end(instance_id, reason)
    return [
        {
            "InstanceId": instance_id,
            "PreviousState": {"Name": before[instance_id][0], "Code": before[instance_id][1]},
            "CurrentState": {"Name": "shutting-down", "Code": 32}
            if instance_id in alive
            else {"Name": "terminated", "Code": 48},
        }
        for instance_id in ids
    ]


def _create_placement_group(emulator: EmulatorState, response: Any) -> Any:
    with emulator.lock:
        return placement.create(emulator, response.region, response.current_account, _parameters(response))


def _describe_placement_groups(emulator: EmulatorState, response: Any) -> Any:
    return placement.describe(emulator, response.region, _parameters(response))


def _delete_placement_group(emulator: EmulatorState, response: Any) -> None:
    backend = response.ec2_backend
    with emulator.lock:
        used = {
            i.placement.group_name for i in backend.all_instances() if i.state not in ("terminated", "shutting-down")
        }
        placement.delete(emulator, response.region, _parameters(response), used)


def _default_disk_key(emulator: EmulatorState, response: Any) -> Any:
    """Answer GetEbsDefaultKmsKeyId: moto can only set this key."""
    return {"KmsKeyId": disk_keys.default_key(response.ec2_backend) or disk_keys.AWS_KEY}


def _describe_regions(emulator: EmulatorState, response: Any) -> Any:
    """Answer DescribeRegions; regions without opt-in are shown only with AllRegions."""
    request = _parameters(response)
    names, all_regions = list(request.get("RegionNames") or []), str(request.get("AllRegions", "")).lower() == "true"
    known = {region.name: region for region in response.ec2_backend.describe_regions([])}
    for name in names:
        if name not in known or (name in emulator.closed and not all_regions):
            raise CloudError("InvalidParameterValue", f"Invalid region: {name}")
    regions = []
    for name, region in known.items():
        if name in (names or known) and (all_regions or name not in emulator.closed):
            status = "not-opted-in" if name in emulator.closed else "opt-in-not-required"
            regions.append({"RegionName": name, "Endpoint": region.endpoint, "OptInStatus": status})
    return {"Regions": regions}


def _with_account(action: Callable[[EmulatorState, str, str, Any], Any]) -> Action:
    def act(emulator: EmulatorState, response: Any) -> Any:
        with emulator.lock:
            return action(emulator, response.region, response.current_account, _parameters(response))

    return act


def _with_region(action: Callable[[EmulatorState, str, Any], Any]) -> Action:
    def act(emulator: EmulatorState, response: Any) -> Any:
        with emulator.lock:
            return action(emulator, response.region, _parameters(response))

    return act


def _with_response(action: Callable[[EmulatorState, Any, Any], Any]) -> Action:
    return lambda emulator, response: action(emulator, response, _parameters(response))


ACTIONS: dict[str, Action] = {
    "run_instances": _run_instances,
    "create_fleet": _create_fleet,
    "terminate_instances": _terminate_instances,
    "create_launch_template_version": launch_template_versions.create,
    "delete_launch_template_versions": launch_template_versions.delete,
    "create_placement_group": _create_placement_group,
    "describe_placement_groups": _describe_placement_groups,
    "delete_placement_group": _delete_placement_group,
    "describe_regions": _describe_regions,
    "get_ebs_default_kms_key_id": _default_disk_key,
    "create_capacity_reservation": _with_account(reservations.create),
    "describe_capacity_reservations": _with_region(reservations.describe),
    "cancel_capacity_reservation": _with_region(reservations.cancel),
    "describe_capacity_block_offerings": _with_region(reservations.offer),
    "purchase_capacity_block": _with_account(reservations.purchase),
    "get_console_output": console_output.get,
    "describe_instances": _with_response(descriptions.instances),
    "describe_instance_topology": _with_response(instance_topology.describe),
    "describe_instance_status": _with_response(instance_status.describe),
    "describe_images": _with_response(images.describe),
    "deregister_image": _with_response(images.deregister),
    "describe_instance_types": _with_response(types.describe),
    "describe_instance_type_offerings": _with_response(types.offerings),
    "describe_spot_price_history": _with_response(types.spot_prices),
    "describe_vpc_endpoint_services": _with_response(endpoint_services.describe),
}
