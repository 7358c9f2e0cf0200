"""Reader of typed values in JSON. It collects the faults, so that one run reports all of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

COMMENT_PREFIX = "//"


class ConfigReader:
    """Reader of JSON tables. Each method returns a value of its type; if the file has another type, it adds a fault.

    `at`: path of the table in the file, the prefix of each fault's text.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []

    def table(self, value: Any, path: str, known_keys: Collection[str]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.faults.append(f"{path}: an object is expected")
            return {}
        entries = {key: entry for key, entry in value.items() if not key.startswith(COMMENT_PREFIX)}
        self.faults += [f"{path}: '{key}' is not known" for key in entries if key not in known_keys]
        return entries

    def tables(
        self, table: Mapping[str, Any], key: str, known_keys: Collection[str]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield name and table for each entry of a table of tables."""
        value = table.get(key)
        names = [name for name in value if not name.startswith(COMMENT_PREFIX)] if isinstance(value, dict) else []
        for name, entry in self.table(value, key, names).items():
            yield name, self.table(entry, f"{key}.{name}", known_keys)

    def list(
        self, table: Mapping[str, Any], key: str, known_keys: Collection[str], at: str = ""
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the tables of a list, each with its path (`at` of the other methods); nothing if the key is absent."""
        value = table.get(key, [])
        if not isinstance(value, list):
            self.faults.append(f"{at}{key}: a list is expected")
            value = []
        for index, entry in enumerate(value):
            yield f"{at}{key}[{index}].", self.table(entry, f"{at}{key}[{index}]", known_keys)

    def text(self, table: Mapping[str, Any], key: str, at: str = "") -> str:
        value = table.get(key)
        if isinstance(value, str) and value:
            return value
        self.faults.append(f"{at}{key}: text is expected")
        return ""

    def optional(self, table: Mapping[str, Any], key: str, at: str = "") -> str | None:
        return None if table.get(key) is None else self.text(table, key, at)

    def choice(self, table: Mapping[str, Any], key: str, choices: Sequence[str], at: str = "") -> str:
        value = self.text(table, key, at)
        if value and value not in choices:
            self.faults.append(f"{at}{key}: '{value}' is none of {', '.join(choices)}")
        return value

    def words(self, table: Mapping[str, Any], key: str, at: str = "") -> tuple[str, ...]:
        value = table.get(key)
        if isinstance(value, list) and all(isinstance(word, str) and word for word in value):
            return tuple(value)
        self.faults.append(f"{at}{key}: a list of texts is expected")
        return ()

    def switch(self, table: Mapping[str, Any], key: str, at: str = "") -> bool:
        value = table.get(key)
        if isinstance(value, bool):
            return value
        self.faults.append(f"{at}{key}: true or false is expected")
        return False

    def number(self, table: Mapping[str, Any], key: str, at: str = "") -> float:
        value = table.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0:
            return float(value)
        self.faults.append(f"{at}{key}: a number of 0 or more is expected")
        return 0.0

    def above(self, table: Mapping[str, Any], key: str, at: str = "") -> float:
        value = self.number(table, key, at)
        if value == 0 and table.get(key) == 0:
            self.faults.append(f"{at}{key}: a number above 0 is expected")
        return value

    def count(self, table: Mapping[str, Any], key: str, at: str = "", least: int = 1) -> int:
        value = table.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        self.faults.append(f"{at}{key}: a whole number of {least} or more is expected")
        return least

    def amounts(self, table: Mapping[str, Any], key: str) -> dict[str, float]:
        value = table.get(key)
        names = list(value) if isinstance(value, dict) else []
        entries = self.table(value, key, names)
        return {name: self.number(entries, name, f"{key}.") for name in entries}

    def range(self, table: Mapping[str, Any], key: str) -> tuple[float, float]:
        value = table.get(key)
        if isinstance(value, list) and len(value) == 2:
            low, high = (self.number({key: bound}, key) for bound in value)
            if low <= high:
                return low, high
        self.faults.append(f"{key}: two numbers are expected, the smaller one first")
        return 0.0, 0.0

    def address(self, table: Mapping[str, Any], key: str) -> str | None:
        """Return `host:port`; None if the value is null."""
        value = self.optional(table, key)
        port = (value or "").rpartition(":")[2]
        if value and not (":" in value and port.isdigit() and int(port) < 65536):
            self.faults.append(f"{key}: '{value}' is not host:port")
        return value

    def optional_values(
        self,
        table: Mapping[str, Any],
        at: str = "",
        *,
        texts: Iterable[str] = (),
        switches: Iterable[str] = (),
        numbers: Iterable[str] = (),
        above: Iterable[str] = (),
        counts: Iterable[str] = (),
    ) -> dict[str, Any]:
        """Return the optional keys that the table has, with their values; null is the same as absent."""
        kinds: tuple[tuple[Iterable[str], Callable[..., Any]], ...] = (
            (texts, self.text),
            (switches, self.switch),
            (numbers, self.number),
            (above, self.above),
            (counts, self.count),
        )
        return {key: read(table, key, at) for keys, read in kinds for key in keys if table.get(key) is not None}
