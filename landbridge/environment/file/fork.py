"""Fork of an environment file: different values are replaced in the text; comments are unchanged."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from landbridge import yaml_text
from landbridge.catalog import instances, regions, zones
from landbridge.environment.file.edit import plain, refused, replaced, scalars
from landbridge.environment.file.load import ROOT
from landbridge.environment.file.renumber import ADDRESS, Move, move
from landbridge.environment.file.source import Source, read
from landbridge.findings import DataPath, FindingsError
from landbridge.hostlist import expand

_REGION: DataPath = ("config", "aws:region")
_OWN_CIDR, _AWS_CIDR = (*ROOT, "onprem", "cidr"), (*ROOT, "aws", "cidr")
_ZONE = re.compile(r"[a-z]{3,5}\d-az\d+")
# Keys of the original stack only: another stack gets new ones.
_STACK_KEYS = re.compile(r"^(?:encryptionsalt|encryptedkey|secretsprovider):.*\n?", re.MULTILINE)
_INVITATION = re.compile(r"^# Fork it with: .*$", re.MULTILINE)


#: Keys whose values belong to one organisation and for which `landbridge new` has no option.
_OF_THE_ORGANISATION: tuple[tuple[str, ...], ...] = (
    ("users",),
    ("onprem", "nodes"),
    ("onprem", "addresses"),
    ("aws", "pools"),
    ("scheduler", "slurm", "packages_mirror"),
    ("scheduler", "accounts"),
    ("budget",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Values of the new environment that differ; None keeps the old value."""

    owner: str | None = None
    cost_center: str | None = None
    region: str | None = None
    onprem_cidr: IPv4Network | None = None
    aws_cidr: IPv4Network | None = None
    gateway_address: IPv4Address | None = None
    onprem_asn: int | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """Stack file that `pulumi new` or `pulumi stack init` has written, without an environment yet."""

    region: str | None
    keys: str

    def ends(self, text: str) -> str:
        """Return the text of an environment file with the stack's existing keys appended."""
        return f"{text.rstrip()}\n{self.keys}" if self.keys else text


def begun(text: str) -> Begun | None:
    """Return the content of a stack file without an environment; None for any other file."""
    data = yaml_text.load(text)
    config = data.get("config") or {} if isinstance(data, dict) else None
    if not isinstance(config, dict) or set(config) - {"aws:region"}:
        return None
    return Begun(config.get("aws:region"), "".join(f"{line.group().rstrip()}\n" for line in _STACK_KEYS.finditer(text)))


def fork(text: str, target: Wanted, origin: str) -> str:
    """Return the text of a new environment file. `text` is that of the environment `origin`.

    Addresses and ranges inside a changed range are moved with it; those without a place in a smaller one get free
    addresses. Zones of another region are chosen among those that
    offer every instance type of the old zones. Raises FindingsError if a value does not fit, or for encrypted keys.
    """
    text = _STACK_KEYS.sub("", text)
    source = read(text, f"Pulumi.{origin}.yaml")
    if source.data is None:
        raise FindingsError(source.findings)
    values = dict(scalars(source.data, ()))
    secret = next((path for path in values if path[-1] == "secure"), None)
    if secret is not None:
        fix = "fork an environment without secure keys, then set the new one's with pulumi config set --secret"
        raise refused(source, "fork-secrets", f"{secret[-2]} is encrypted for {origin} alone", secret, fix)
    edits = {**_moved(source, values, target), **_zones(source, values, target), **_named(target)}
    return _INVITATION.sub(f"# Forked from {origin}.", _written(source, text, values, edits))


def copied_keys(text: str, origin: str) -> tuple[str, ...]:
    """Return the keys of the environment `origin` whose values a fork has unchanged, and which an organisation replaces."""
    data = read(text, f"Pulumi.{origin}.yaml").data
    present = []
    for path in _OF_THE_ORGANISATION:
        value = data
        for key in (*ROOT, *path):
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            present.append(".".join(path))
    return tuple(present)


def _named(target: Wanted) -> dict[DataPath, Any]:
    """Return the single values to replace, by path."""
    changes: dict[DataPath, Any] = {
        (*ROOT, "owner"): target.owner,
        (*ROOT, "cost_center"): target.cost_center,
        _REGION: target.region,
        _OWN_CIDR: target.onprem_cidr and str(target.onprem_cidr),
        _AWS_CIDR: target.aws_cidr and str(target.aws_cidr),
        (*ROOT, "link", "gateway_address"): target.gateway_address and str(target.gateway_address),
        (*ROOT, "link", "onprem_asn"): target.onprem_asn,
    }
    return {path: value for path, value in changes.items() if value is not None}


def _moved(source: Source, values: Mapping[DataPath, Any], target: Wanted) -> dict[DataPath, Any]:
    """Return each text with an address of a changed range, with its address in the new range."""
    moves = []
    for path, new in ((_OWN_CIDR, target.onprem_cidr), (_AWS_CIDR, target.aws_cidr)):
        if new is not None and isinstance(values.get(path), str):
            old = IPv4Network(values[path])
            moves.append(move(old, new, [use for use in _uses(values) if use[0] in old]))
    changes: dict[DataPath, Any] = {}
    for path, value in values.items():
        if isinstance(value, str) and moves and path not in (_OWN_CIDR, _AWS_CIDR):
            moved = ADDRESS.sub(lambda match, path=path: _shift(source, values, match, moves, path), value)  # type: ignore[misc]
            if moved != value:
                changes[path] = moved
    return changes


def _uses(values: Mapping[DataPath, Any]) -> Iterator[tuple[IPv4Address, int]]:
    """Yield each address of the file, and the number of hosts that have it and the next ones."""
    for path, value in values.items():
        hosts = values.get((*path[:-1], "hosts"))
        for match in ADDRESS.finditer(value if isinstance(value, str) else ""):
            parsed = _parsed(match)
            if isinstance(parsed, IPv4Address):
                names = expand(hosts) if path[-1] == "address" and isinstance(hosts, str) else [""]
                yield parsed, len(names)


def _parsed(match: re.Match[str]) -> IPv4Address | IPv4Network | None:
    """Return the range of a text such as 10.0.0.0/24, else its address; None if it is neither."""
    try:
        return IPv4Network(match[0]) if match[2] else IPv4Address(match[1])
    except ValueError:
        return None


def _shift(
    source: Source, values: Mapping[DataPath, Any], match: re.Match[str], moves: Iterable[Move], path: DataPath
) -> str:
    parsed = _parsed(match)
    for range_move in moves:
        old, new = range_move.old, range_move.new
        if isinstance(parsed, IPv4Network) and parsed.subnet_of(old):
            moved: IPv4Address | IPv4Network | None = range_move.network(parsed)
        elif isinstance(parsed, IPv4Address) and parsed in old:
            moved = range_move.address(parsed)
        else:
            continue
        if moved is None:
            fix = f"give a range of at least /{_needed(values, range_move)}"
            raise refused(source, "fork-range", f"{parsed} of {old} has no place in {new}", path, fix)
        return str(moved)
    return match[0]


def _needed(values: Mapping[DataPath, Any], range_move: Move) -> int:
    """Return the longest prefix of a range in which everything of the old one has a place."""
    old, new = range_move.old, range_move.new
    used = [use for use in _uses(values) if use[0] in old]
    texts = [value for value in values.values() if isinstance(value, str)]
    parts = [part for text in texts for match in ADDRESS.finditer(text) if (part := _parsed(match)) is not None]
    networks = [part for part in parts if isinstance(part, IPv4Network) and part.subnet_of(old)]
    for prefix in range(new.prefixlen, old.prefixlen, -1):
        larger = move(old, IPv4Network((0, prefix)), used)
        if all(larger.address(address) for address, _ in used) and all(map(larger.network, networks)):
            return prefix
    return old.prefixlen


def _zones(source: Source, values: Mapping[DataPath, Any], target: Wanted) -> dict[DataPath, Any]:
    """Return a zone of the new region for each zone in the file."""
    if target.region is None or target.region == values.get(_REGION):
        return {}
    if target.region not in regions():
        raise refused(source, "fork-region", f"no region {target.region} is known", _REGION, ", ".join(regions()))
    named = {path: value for path, value in values.items() if isinstance(value, str) and _ZONE.fullmatch(value)}
    chosen: dict[str, str] = {}
    for zone in dict.fromkeys(named.values()):
        types = {kind for path, other in named.items() if other == zone and (kind := _type_at(values, path))}
        offered = zones(target.region)
        for kind in sorted(types):
            offered = instances()[kind].zones_in(offered) if kind in instances() else offered
        free = [zone for zone in offered if zone not in chosen.values()] or list(offered)
        if not free:
            path = next(path for path, other in named.items() if other == zone)
            message = f"no zone of {target.region} is known to offer {', '.join(sorted(types))}"
            raise refused(
                source, "fork-region", message, path, "fork in another region, and change types and zones by hand"
            )
        chosen[zone] = free[0]
    return {path: chosen[zone] for path, zone in named.items()}


def _type_at(values: Mapping[DataPath, Any], path: DataPath) -> str | None:
    """Return the instance type of a zone's capacity, else of its pool; None outside pools."""
    for end in range(len(path), 0, -1):
        kind = values.get((*path[:end], "instance"))
        if kind is not None:
            return str(kind)
    return None


def _written(source: Source, text: str, values: Mapping[DataPath, Any], edits: Mapping[DataPath, Any]) -> str:
    lines = text.splitlines(keepends=True)
    places: dict[tuple[int, int], tuple[DataPath, Any]] = {}
    for path, value in edits.items():
        if path in values:
            places[source.places[path].value] = (path, value)
    missing = [(path, value) for path, value in edits.items() if path not in values]
    # From the end, so that the earlier positions stay valid.
    for (line, column), (path, value) in sorted(places.items(), reverse=True):
        lines[line - 1] = replaced(source, lines[line - 1], column - 1, values[path], value, path)
    for path, value in sorted(missing, key=lambda entry: source.locate(entry[0]), reverse=True):
        _insert(source, lines, path, value)
    return "".join(lines)


def _insert(source: Source, lines: list[str], path: DataPath, value: Any) -> None:
    """Insert a missing key on a new line under its parent, which must span several lines."""
    parent = source.places.get(path[:-1])
    first = next((place for other, place in source.places.items() if other[:-1] == path[:-1] and place.key), None)
    if parent is None or parent.key is None or first is None or first.key is None or first.key[0] == parent.key[0]:
        message = f"{path[-1]} is not in the file, and there is no line to put it after"
        raise refused(source, "fork-value", message, path, "write it into the file by hand")
    lines[first.key[0] - 1 : first.key[0] - 1] = [f"{' ' * (first.key[1] - 1)}{path[-1]}: {plain(value)}\n"]
