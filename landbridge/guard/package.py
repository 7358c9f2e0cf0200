"""Files of the Lambda function, and a reproducible zip archive of them."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

#: The oldest date that a zip can have: the archive does not depend on the time of its creation.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644
HANDLER = "reaper.handler"


def files() -> dict[str, str]:
    """Return the function's files by name."""
    return {"reaper.py": (Path(__file__).parent / "reaper.py").read_text(encoding="utf-8")}


def archive(contents: Mapping[str, str]) -> bytes:
    """Return a zip that depends on the contents only: not on order, clock, owner or platform."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as zip_file:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, _READABLE << 16
            zip_file.writestr(entry, contents[name].encode())
    return buffer.getvalue()
