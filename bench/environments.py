"""Hybrid environments of any size: 50 pools are ParallelCluster's greatest cluster, 10 queues of 5 compute resources."""

# Five types as unlike each other as they come: 32, 4, 16, 1 and 8 EFA cards. The same ones go into the peer's queues.
TYPES = ("p5.48xlarge", "p4d.24xlarge", "p5en.48xlarge", "g6e.12xlarge", "p6-b200.48xlarge")
# All of them are offered there. One zone each, as a region has room for 500 placement groups.
ZONE = "use1-az6"
# As many nodes in all as 50 pools of 16 have: more interfaces would need a higher quota, which is an error of its own.
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
      cidr: 10.20.0.0/16
      nodes:
        - {hosts: "dgx[01-04]", platform: dgx-h100, address: 10.20.1.11, rack: r1}
        - {hosts: "smc[01-08]", platform: supermicro-hgx-a100, address: 10.20.1.31, rack: r2}
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
"""


def names(pools: int) -> list[str]:
    """The pools' names: ten queues, each with so many types."""
    each = -(-pools // 10)
    return [f"q{number // each}-c{number % each}" for number in range(pools)]


def max_nodes(pools: int) -> int:
    """The most nodes of each pool."""
    return min(16, max(1, NODES // pools))


def text(pools: int) -> str:
    """The file of an environment with that many pools; `landbridge check` finds no error in it."""
    most = max_nodes(pools)
    rows = [_pool(name, TYPES[number % len(TYPES)], most) for number, name in enumerate(names(pools))]
    return _HEAD + "".join(rows) + _TAIL


def _pool(name: str, instance: str, most: int) -> str:
    return f"""\
        - name: {name}
          instance: {instance}
          max_nodes: {most}
          capacity:
            - {{kind: on_demand, zones: [{ZONE}]}}
          suspend_after: 900
          features: [debug]
"""
