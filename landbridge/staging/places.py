"""Places of data, and the reports of the mover about them. Standard library only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

DataSite = Literal["onprem", "aws"]
#: absent: not there, and not requested; moving: the mover copies it; present: complete and verified; refused: it cannot
#: be there, with the reason in `text`.
ReportState = Literal["absent", "moving", "present", "refused"]


@dataclass(frozen=True, slots=True, order=True)
class DatasetPlace:
    """Version of a dataset at a site, in the data class of the account whose jobs read it."""

    dataset: str  # NAME:VERSION
    data_class: str
    site: DataSite


@dataclass(frozen=True, slots=True)
class DataReport:
    """Report of the mover about a place. `left` bytes are copied until it is complete, in about `seconds`."""

    state: ReportState
    size: int = 0
    left: int = 0
    seconds: float | None = None  # None: no rate has been measured
    usd: float | None = None  # highest price of the transfer; None: unknown
    path: str = ""  # where jobs read it
    text: str = ""


@dataclass(frozen=True, slots=True)
class StagingReports:
    """Reports of the mover, the time of the last one, and the time at which it began to inspect the places; None if it has never
    written any.
    """

    at: float | None = None
    by_place: Mapping[DatasetPlace, DataReport] = field(default_factory=dict)
    inspected: float | None = None


@dataclass(frozen=True, slots=True)
class DataInUse:
    """Datasets that pending and running jobs state, as class and NAME:VERSION. `inspected`: that of the reports by which jobs were
    released in the same pass.
    """

    inspected: float | None = None
    datasets: frozenset[tuple[str, str]] = frozenset()
