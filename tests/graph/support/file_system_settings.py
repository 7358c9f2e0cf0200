"""File systems in the sandbox's environment, for tests: the sandbox itself has none."""

HUB = "      data_hub: {kind: s3}\n"


def stored(text: str) -> tuple[str, str]:
    """Return a change of the sandbox's file: more keys under `storage`, one on each line."""
    return HUB, HUB + "".join(f"      {line}\n" for line in text.splitlines())


LINKED = "cloud_scratch: {kind: fsx_lustre, repositories: [{folder: /data, data_class: internal, export: true}]}"
SHARES = """cloud_shares:
  homes: {kind: fsx_openzfs, mount: /homes}
  files: {kind: efs, mount: /files}"""
ALL = f"{LINKED}\n{SHARES}"
