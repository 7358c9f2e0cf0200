"""Secrets of an environment's site: their names and forms."""

from landbridge.catalog.site_secrets import GeneratedSecret, site_secrets
from landbridge.environment import Environment
from landbridge.plan.network.services.mlflow_servers import MAIN, MlflowServer, mlflow_servers
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.network.services.object_store import store_buckets
from landbridge.plan.network.services.serving import calling_accounts, followed_services
from landbridge.plan.site.home_copies import any_copies
from landbridge.plan.site.site_tls import has_site_tls


def generated_secrets(environment: Environment) -> dict[str, GeneratedSecret]:
    """Return the secrets that the site's roles read and that Landbridge generates, by name."""
    secrets: dict[str, GeneratedSecret] = {}
    for name, form in site_secrets().generated.items():
        if form.per == "server":
            secrets |= {name + _suffix(server): form for server in mlflow_servers(environment)}
        elif form.per == "user":
            secrets |= {f"{name}-{user.name}": form for user in environment.users}
        elif form.per == "class":
            accounts = (account for bucket in store_buckets(environment) for account in bucket.accounts)
            secrets |= {
                account.secret: form for account in accounts if account.secret == f"{name}-{account.data_class}"
            }
        elif form.per == "store":
            secrets |= {name: form} if store_buckets(environment) else {}
        elif form.per == "caller":
            secrets |= {f"{name}-{account}": form for account in calling_accounts(environment)}
        elif form.per == "canary":
            secrets |= {name: form} if followed_services(environment) else {}
        elif form.per == "copies":
            secrets |= {name: form} if any_copies(environment) is not None else {}
        elif form.per == "monitoring":
            secrets |= {name: form} if monitoring_host(environment) is not None else {}
        elif form.form != "authority" or has_site_tls(environment):
            secrets[name] = form
    return secrets


def _suffix(server: MlflowServer) -> str:
    """Return the end of the names of a server's secrets; the first server's have none."""
    return "" if server.name == MAIN else f"-{server.data_class}"
