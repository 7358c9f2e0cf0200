"""Cost of the services in AWS: instances, their volumes and the database, billed independent of use."""

from collections.abc import Iterator

from landbridge.environment import Environment
from landbridge.plan.cost.bill_lines import BillItem, hourly, monthly
from landbridge.plan.network.services.serving import cloud_model_servers, serving_of


def model_servers_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the lines of the hosts of model servers in AWS: the volumes are billed always, the instances while they run."""
    serving = serving_of(environment)
    if serving is None or serving.aws is None:
        return
    settings, count, region = serving.aws, len(cloud_model_servers(environment)), environment.region
    description = f"{count} x model server, {settings.instance}, if all of them run"
    yield from hourly(description, settings.instance, region, count, "on_demand")
    gib = count * settings.root_volume_gib
    yield from monthly(f"{gib:,} GiB volumes of model servers", "ebs_gp3", region, gib)


def services_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the lines of the services; none if they are on-prem."""
    services, region = environment.aws.services, environment.region
    if services is None:
        return
    controller, login, database = services.controller, services.login, services.database
    yield from hourly(f"controller, {controller.instance}", controller.instance, region, 1, "on_demand")
    if login.count:
        description = f"{login.count} x login, {login.instance}"
        yield from hourly(description, login.instance, region, login.count, "on_demand")
    gib = controller.root_volume_gib + controller.volume_gib + login.count * login.root_volume_gib
    yield from monthly(f"{gib:,} GiB volumes of the services", "ebs_gp3", region, gib)
    copies = 1 + database.multi_az
    description = f"accounting, {database.instance}{' with a standby' * database.multi_az}"
    yield from hourly(description, database.instance, region, copies, "on_demand")
    description = f"{database.storage_gib * copies:,} GiB of the accounting database"
    yield from monthly(description, "rds_gp3", region, database.storage_gib * copies)
