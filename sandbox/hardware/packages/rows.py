"""Packages of the rows in data/*.yaml. Pure; a row with an unknown key is an error."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import yaml

from sandbox.hardware.packages.deb import Package

#: Control fields that a row may contain, each a list.
_FIELDS = ("depends", "recommends", "provides", "conflicts", "replaces", "breaks")
_KEYS = {"package", "each", "version", "source", "services", "files", *_FIELDS}
#: Unit of a service that runs its program.
_UNIT = """[Unit]
Description={name} (lab)

[Service]
ExecStart={program}

[Install]
WantedBy=multi-user.target
"""


def suites() -> Mapping[str, list[Package]]:
    """Return the packages of every suite, from all files of data/."""
    suites: dict[str, list[Package]] = {}
    rows_files = (
        path for path in (files("sandbox.hardware.packages") / "data").iterdir() if path.name.endswith(".yaml")
    )
    for file in sorted(rows_files, key=lambda path: path.name):
        content = yaml.safe_load(file.read_text())
        for suite, rows in content["suites"].items():
            suites.setdefault(suite, []).extend(package for row in rows for package in _packages(row))
    return suites


def _packages(row: Mapping[str, Any]) -> Iterator[Package]:
    unknown_keys = set(row) - _KEYS
    if unknown_keys:
        raise ValueError(f"{row['package']}: unknown {', '.join(sorted(unknown_keys))}")
    for release in row.get("each", [""]):
        # `{v}` is the release, `{b}` its branch.
        placeholders = {"v": str(release), "b": str(release).partition(".")[0]}
        fields = {
            key.title(): ", ".join(_filled(entry, placeholders) for entry in row[key]) for key in _FIELDS if key in row
        }
        if "source" in row:
            fields["Source"] = _filled(row["source"], placeholders)
        contents = {path: _filled(text, placeholders) for path, text in row.get("files", {}).items()}
        for unit, program in row.get("services", {}).items():
            contents[f"/usr/lib/systemd/system/{unit}.service"] = _UNIT.format(name=unit, program=program)
        yield Package(_filled(row["package"], placeholders), _filled(row["version"], placeholders), fields, contents)


def _filled(text: str, placeholders: Mapping[str, str]) -> str:
    for key, value in placeholders.items():
        text = text.replace(f"{{{key}}}", value)
    return text
