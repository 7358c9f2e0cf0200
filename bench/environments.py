"""Hybrid environments of any size: 50 pools are ParallelCluster's largest cluster, 10 queues of 5 compute resources."""

# Five very different types: 32, 4, 16, 1 and 8 EFA network cards. The peer's queues use the same ones.
TYPES = ("p5.48xlarge", "p4d.24xlarge", "p5en.48xlarge", "g6e.12xlarge", "p6-b200.48xlarge")
# This zone offers all of them. Each pool has one zone, as a region permits 500 placement groups.
ZONE = "use1-az6"
# Total number of nodes, that of 50 pools of 16: more interfaces would need a higher quota, which is a separate error.
NODES = 800

_HEAD = """\
config:
  aws:region: us-east-1
  landbridge:environment:
    owner: ml-platform@example.org
    data_classes:
      internal: {sites: [onprem, aws]}
      restricted: {sites: [onprem], regime: hipaa}
    users:
      - {name: alice, uid: 20001}
    onprem:
      aws_credentials: files
      cidr: 10.20.0.0/16
      nodes:
        - {hosts: "dgx[01-04]", platform: dgx-h100, address: 10.20.1.11, rack: r1}
        - {hosts: "smc[01-08]", platform: supermicro-hgx-a100, address: 10.20.1.31, rack: r2}
      driver: {install: false}
      gpu_tools: {dcgm: false}
      addresses:
        ctl01: 10.20.0.11
        db01: 10.20.0.12
        login01: 10.20.0.13
        nfs01: 10.20.0.14
        gw01: 10.20.0.1
        mlops01: 10.20.0.15
    aws:
      cidr: 10.60.0.0/16
      pools:
"""
_TAIL = """\
    link: {kind: vpn, gateway_address: 203.0.113.10}
    storage:
      home: {kind: nfs}
      data_hub: {kind: s3}
    scheduler:
      slurm: {version: "26.05"}
      accounts:
        vision: {users: [alice], data_class: internal}
    budget: {monthly_usd: 120000}
    state: {backend: local}
"""


def names(pools: int) -> list[str]:
    """Return the pools' names: ten queues with an equal number of instance types."""
    types_per_queue = -(-pools // 10)
    return [f"q{number // types_per_queue}-c{number % types_per_queue}" for number in range(pools)]


def max_nodes(pools: int) -> int:
    """Return max_nodes of each pool."""
    return min(16, max(1, NODES // pools))


def text(pools: int) -> str:
    """Return an environment file with that many pools; `landbridge check` finds no error in it."""
    limit = max_nodes(pools)
    rows = [_pool(name, TYPES[number % len(TYPES)], limit) for number, name in enumerate(names(pools))]
    return _HEAD + "".join(rows) + _TAIL


def _pool(name: str, instance: str, limit: int) -> str:
    return f"""\
        - name: {name}
          instance: {instance}
          max_nodes: {limit}
          image: ami-0123456789abcdef0
          capacity:
            - {{kind: on_demand, zones: [{ZONE}]}}
          suspend_after: 900
          features: [debug]
"""
