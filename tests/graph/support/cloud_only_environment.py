"""Environment without an on-prem site, for tests: the smallest one with all services."""

from pathlib import Path

TEXT = """config:
  aws:region: us-east-1
  landbridge:environment:
    owner: newcomer@example.org
    aws:
      cidr: 10.60.0.0/16
      nat: none
      protect: {protect}
      endpoints: {{operator: "{endpoint}", cloud: "{endpoint}"}}
      pools:
        - name: g6e
          instance: g6e.xlarge
          max_nodes: 2
          image: ami-0a11ce5a9db0c5000
          capacity: [{{kind: spot, zones: [use1-az4, use1-az6]}}]
      services:
        zone: use1-az4
        standby_zone: use1-az6
        image: ami-0a11ce5a9db0c5000
        controller: {{instance: m7i.large, volume_gib: 50}}
        login: {{count: 1}}
        access: {{public_keys: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEexampleexampleexampleexampleexample me"]}}
    storage: {{home: {{kind: efs}}, data_hub: {{kind: s3}}}}
    budget: {{monthly_usd: 1000}}
"""


def write(folder: Path, name: str, *changes: tuple[str, str], endpoint: str, protect: bool = False) -> Path:
    """Write the environment's file into `folder`, with `changes` (old, new), and return its path."""
    text = TEXT.format(endpoint=endpoint, protect=str(protect).lower())
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / f"Pulumi.{name}.yaml"
    path.write_text(text)
    return path
