"""Data that jobs of the tests' cluster state: the sandbox's environment file with staging on its storage host."""

FOLDER, MOUNT = "/export/home/datasets", "/home/datasets"
#: Group that reads data of the class internal: that of the user whose jobs state it.
GROUP = "alice"
_HUB_LINE = "      data_hub: {kind: s3}\n"


def with_staging(text: str) -> str:
    """Return an environment file whose storage host stages data."""
    assert text.count(_HUB_LINE) == 1, "the sandbox has one data hub"
    staging = f"      staging: {{folder: {FOLDER}, mount: {MOUNT}, groups: {{internal: {GROUP}}}}}\n"
    return text.replace(_HUB_LINE, _HUB_LINE + staging)
