"""Configuration of the model gateway: HAProxy before the model servers. Pure.

Each service is a backend with a server for each slot and host; the weights of the slots are changed at run time through the socket, and
a state file keeps them over a reload. HAProxy copies no requests to a shadow: a model server does it.

Source: HAProxy 3.0 Configuration Manual: `retry-on`, `option redispatch`, `http-check disable-on-404`, `http_auth_bearer`,
`load-server-state-from-file`, `tune.bufsize`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

#: Weight of a slot at the first start: slot a serves, slot b gets no requests. The greatest weight is 256.
FIRST_WEIGHTS = {"a": 100, "b": 0}
#: Caller of the export in the file of callers: no account of Slurm can have the name.
EXPORT_CALLER = "@model-servers"
#: URL path prefix of the export.
EXPORT_PATH = "/landbridge/"
#: Largest request that is kept for a second try: with a longer one a lost server is an error for its client.
_KEPT_BYTES = 256 * 1024
#: Name of the server that keeps requests while no model server runs, and the most that it keeps: Landbridge's choice.
WAITING_ROOM, _WAITING_REQUESTS = "wait", 256
#: Maximum duration of a language model's answer that is not streamed. Landbridge's choice.
_GENERATION_SECONDS = 600
#: Space in a buffer for headers, in addition to the request.
_HEADERS = 16 * 1024


@dataclass(frozen=True, slots=True)
class GatewayServer:
    """Model server of a slot: the name in HAProxy, the slot, the host's name in its certificate, address and port."""

    name: str
    slot: str
    host: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class GatewayService:
    """Service: its paths, the accounts that may call it, limits, and its model servers.

    `path` begins the paths of its requests; with `is_cut` the model servers get the paths without it. `tls` is false for a program
    without TLS. Without `keeps_connections` each request has a connection of its own to its model server. `waiting_room`: Unix socket
    that keeps requests while no model server runs; empty: they get the status 503.
    """

    name: str
    path: str
    accounts: tuple[str, ...]
    concurrency: int
    max_request_bytes: int
    client_rate: int
    servers: tuple[GatewayServer, ...]
    health: str
    is_cut: bool = False
    tls: bool = True
    keeps_connections: bool = True
    waiting_room: str = ""


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Places and addresses of the gateway. `account`: the Unix account of HAProxy; empty: the one that starts it.

    `metrics`: address and port of its own metrics, which it gives to the address `metrics_client` only. `export`: Unix socket of the
    export of model folders, for the caller `exporter`; empty: none.
    """

    listen: str
    port: int
    certificate: str
    authority: str
    callers: str
    socket: str
    state_file: str
    account: str = "haproxy"
    check_milliseconds: int = 1000
    metrics: str = ""
    metrics_client: str = ""
    export: str = ""
    exporter: str = EXPORT_CALLER
    #: Addresses of hosts in AWS, and the URL path prefixes of the export that they may read.
    away: tuple[str, ...] = ()
    away_paths: tuple[str, ...] = ()
    services: tuple[GatewayService, ...] = field(default=())


def haproxy_configuration(settings: GatewaySettings) -> str:
    """Return haproxy.cfg."""
    return "\n".join((*_global(settings), "", *_defaults(), "", *_frontend(settings), *_backends(settings))) + "\n"


def backend(service: str) -> str:
    """Return the name of a service's backend."""
    return f"model-{service}"


def _global(settings: GatewaySettings) -> Iterator[str]:
    longest = max((service.max_request_bytes for service in settings.services), default=0)
    yield "global"
    yield "    log stdout format raw local0 info"
    if settings.account:
        yield f"    user {settings.account}"
        yield f"    group {settings.account}"
    # The service that makes steps of canaries has the group.
    access = f"group {settings.account} mode 660" if settings.account else "mode 600"
    yield f"    stats socket {settings.socket} {access} level admin"
    yield f"    server-state-file {settings.state_file}"
    yield "    ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets"
    yield "    ssl-default-server-options ssl-min-ver TLSv1.2"
    yield f"    tune.bufsize {min(longest, _KEPT_BYTES) + _HEADERS}"
    yield "    hard-stop-after 60s"


def _defaults() -> Iterator[str]:
    yield "defaults"
    yield "    mode http"
    yield "    log global"
    yield "    option dontlognull"
    # Who, when, size and latency, and no content.
    yield (
        '    log-format \'{"at":"%t","client":"%[var(txn.caller)]","service":"%b","server":"%s","status":%ST,'
        '"bytes":%U,"answer_bytes":%B,"ms":%Ta,"retries":"%rc","end":"%ts"}\''
    )
    yield "    timeout connect 2s"
    yield "    timeout queue 10s"
    yield "    timeout client 60s"
    yield "    timeout server 60s"
    yield "    timeout check 2s"
    yield "    timeout http-request 10s"
    yield "    timeout http-keep-alive 60s"
    # A prediction changes nothing, so that a second server may answer the same request.
    yield "    retries 3"
    yield "    option redispatch 1"
    yield "    retry-on conn-failure empty-response response-timeout 503"
    yield "    load-server-state-from-file global"


def _frontend(settings: GatewaySettings) -> Iterator[str]:
    yield "frontend services"
    yield f"    bind {settings.listen}:{settings.port} ssl crt {settings.certificate} alpn h2,http/1.1"
    yield "    http-request return status 200 if { path /v2/health/live } || { path /v2/health/ready }"
    yield f"    http-request set-var(txn.caller) http_auth_bearer,sha2(256),hex,lower,map_str({settings.callers})"
    yield "    http-request deny deny_status 401 unless { var(txn.caller) -m found }"
    # Headers that identify the client, and copies of requests, to model servers: only the gateway sets them.
    yield "    http-request del-header X-Landbridge-Shadow"
    yield "    http-request del-header Authorization"
    yield "    http-request set-header X-Landbridge-Client %[var(txn.caller)]"
    for service in settings.services:
        yield f"    acl is-{service.name} path {service.path}"
        yield f"    acl is-{service.name} path_beg {service.path}/"
        accounts = " ".join(service.accounts)
        yield f"    http-request deny deny_status 403 if is-{service.name} !{{ var(txn.caller) -m str {accounts} }}"
        yield f"    http-request deny deny_status 413 if is-{service.name} {{ req.body_size gt {service.max_request_bytes} }}"
    if settings.export:
        yield f"    acl export path_beg {EXPORT_PATH}"
        yield f"    http-request deny deny_status 403 if export !{{ var(txn.caller) -m str {settings.exporter} }}"
        if settings.away:
            # Their token is that of every host: the address decides which models they read.
            yield f"    acl away src {' '.join(settings.away)}"
            yield f"    acl for-away path_beg {' '.join(settings.away_paths)}"
            yield "    http-request deny deny_status 403 if export away !for-away"
    acls = [*(f"is-{service.name}" for service in settings.services), *(["export"] if settings.export else [])]
    known = " ".join(f"!{acl}" for acl in acls)
    yield f"    http-request deny deny_status 404 if {known}" if known else "    http-request deny deny_status 404"
    # After every rule for requests: HAProxy warns of any other order.
    for service in settings.services:
        yield f"    use_backend {backend(service.name)} if is-{service.name}"
    if settings.export:
        yield "    use_backend export if export"
    if settings.metrics:
        yield ""
        yield "frontend metrics"
        yield f"    bind {settings.metrics} ssl crt {settings.certificate}"
        yield f"    http-request deny deny_status 403 unless {{ src {settings.metrics_client} }}"
        yield "    http-request use-service prometheus-exporter if { path /metrics }"
        yield "    http-request deny deny_status 404"


def _backends(settings: GatewaySettings) -> Iterator[str]:
    if settings.export:
        yield ""
        yield "backend export"
        yield f"    server export unix@{settings.export}"
    for service in settings.services:
        yield ""
        yield f"backend {backend(service.name)}"
        yield "    balance roundrobin"
        if service.client_rate:
            yield "    stick-table type string len 64 size 4k expire 10s store http_req_rate(1s)"
            yield "    http-request track-sc1 var(txn.caller)"
            yield f"    http-request deny deny_status 429 if {{ sc_http_req_rate(1) gt {service.client_rate} }}"
        if service.is_cut:
            # vLLM's other paths end requests of any client, change its scale, and print metrics.
            yield f"    http-request deny deny_status 404 unless {{ path_beg {service.path}/v1/ }}"
            yield f"    http-request replace-path {service.path}/(.*) /\\1"
            # While it ends, vLLM accepts requests, answers them with 500, and its health check with 200 (0.32.0, 2026-11-27).
            yield "    retry-on conn-failure empty-response 500 503"
            # A long answer that is not streamed: repeated after a timeout, it would be generated several times.
            yield f"    timeout server {_GENERATION_SECONDS}s"
        elif not service.tls:
            # Triton's trace settings are changed by this path. Source: Triton Inference Server, "Trace Extension" (2026-11-27).
            yield f"    http-request deny deny_status 404 if {{ path_beg {service.path}/trace/ }}"
        if not service.keeps_connections:
            yield "    option http-server-close"
        yield "    option httpchk"
        yield f"    http-check send meth GET uri {service.health}"
        # A draining model server answers 404: it gets no new request from that moment.
        yield "    http-check disable-on-404"
        if service.waiting_room:
            # Before default-server: it has no check and no TLS. HAProxy repeats a request to a model server after its status 503.
            yield f"    server {WAITING_ROOM} unix@{service.waiting_room} backup maxconn {_WAITING_REQUESTS}"
        every = settings.check_milliseconds
        encryption = f" ssl verify required ca-file {settings.authority}" if service.tls else ""
        yield (
            f"    default-server check inter {every}ms fastinter {max(every // 4, 50)}ms downinter {every}ms fall 2 rise 1 "
            f"observe layer4 error-limit 1 on-error mark-down maxconn {service.concurrency}{encryption}"
        )
        for server in service.servers:
            certificate = f" verifyhost {server.host}" if service.tls else ""
            address = f"{server.address}:{server.port}"
            yield f"    server {server.name} {address} weight {FIRST_WEIGHTS[server.slot]}{certificate}"
