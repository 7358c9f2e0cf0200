"""Reader of `nvidia-smi -q -x`: identities of GPUs, their present faults, and counters. Pure.

Source: nvidia-smi(1); names of the elements as drivers 550 to 580 print them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from landbridge.ops.gpu_health.kernel_log import short
from landbridge.ops.gpu_health.values import GpuIdentity, HealthObservation

_END = "</nvidia_smi_log>"
#: Texts instead of a value of a GPU that does not answer, with the action. Source: NVML API reference, nvmlReturn_t.
_ERRORS = {"Unknown Error": "reset", "GPU requires reset": "reset", "ERR!": "reset", "GPU is lost": "reboot"}


class SmiError(Exception):
    """Error: the text is not the output of `nvidia-smi -q -x`; the message has the reason."""


@dataclass(frozen=True, slots=True)
class GpuReading:
    """Reading of one GPU: identity, faults as (kind, detail, action), counters and state for a report."""

    identity: GpuIdentity
    faults: tuple[tuple[str, str, str], ...]
    counters: dict[str, float]
    processes: int


@dataclass(frozen=True, slots=True)
class SmiReading:
    """Reading of a node: driver version and GPUs."""

    driver: str
    attached: int
    gpus: tuple[GpuReading, ...]

    @property
    def uuids(self) -> dict[str, str]:
        """Return the UUIDs by PCI address."""
        return {gpu.identity.address: gpu.identity.uuid for gpu in self.gpus}

    def observations(self, node: str, at: float) -> tuple[HealthObservation, ...]:
        """Return the present faults as observations."""
        return tuple(
            HealthObservation(at, node, kind, detail, gpu.identity.uuid, action)
            for gpu in self.gpus
            for kind, detail, action in gpu.faults
        )


def read_smi(text: str) -> SmiReading:
    """Parse the output. Raises SmiError."""
    start, end = text.find("<nvidia_smi_log>"), text.rfind(_END)
    if start < 0 or end < start:
        raise SmiError("it is not the output of nvidia-smi -q -x: there is no complete element nvidia_smi_log")
    try:
        # The document type before the root element is not read: it names a file that does not exist.
        root = ElementTree.fromstring(text[start : end + len(_END)])
    except ElementTree.ParseError as error:
        raise SmiError(f"it is not XML: {error}") from None
    gpus = tuple(_gpu(index, element) for index, element in enumerate(root.findall("gpu")))
    attached = _number(root.findtext("attached_gpus", ""))
    return SmiReading(
        root.findtext("driver_version", "").strip(), int(attached if attached is not None else len(gpus)), gpus
    )


def _gpu(index: int, gpu: ElementTree.Element) -> GpuReading:
    identity = GpuIdentity(
        index=index,
        address=short(gpu.get("id") or _text(gpu, "pci/pci_bus_id")),
        uuid=_text(gpu, "uuid"),
        serial=_known(_text(gpu, "serial")),
        name=_text(gpu, "product_name"),
        vbios=_known(_text(gpu, "vbios_version")),
        part_number=_known(_text(gpu, "gpu_part_number") or _text(gpu, "board_part_number")),
    )
    processes = len(gpu.findall("processes/process_info"))
    return GpuReading(identity, tuple(_faults(gpu, identity)), dict(_counters(gpu)), processes)


def _faults(gpu: ElementTree.Element, identity: GpuIdentity) -> Iterator[tuple[str, str, str]]:
    where = f"GPU {identity.index} at {identity.address}"
    # The status of the registration with the fabric may be an error of the fabric, below.
    texts = ((element.text or "").strip().strip("[]") for element in gpu.iter() if element.tag != "status")
    error = next((text for text in texts if text in _ERRORS), "")
    if error:
        yield "gpu", f"{where} does not answer: {error}", _ERRORS[error]
        return
    if _text(gpu, "remapped_rows/remapped_row_failure") in ("Yes", "1"):
        yield "rows", f"{where} could not remap a row", "repair"
    if _text(gpu, "ecc_errors/unrepairable_memory") == "Yes":
        yield "rows", f"{where} has memory that cannot be repaired", "repair"
    if _text(gpu, "retired_pages/pending_retirement") == "Yes":
        yield "pages", f"{where} has pages that a reset retires", "reset"
    action = _text(gpu, "gpu_recovery_action")
    if _known(action) and action.lower() != "none":
        yield "recovery", f"{where} needs: {action}", _recovery(action)
    for kind, name in (("thermal", "hw_thermal_slowdown"), ("power", "hw_power_brake_slowdown")):
        # Drivers before 535 have the older word.
        states = [_text(gpu, f"clocks_{word}_reasons/clocks_{word}_reason_{name}") for word in ("event", "throttle")]
        if "Active" in states:
            yield kind, f"{where}: {name.replace('_', ' ')} is active", "repair"
    width = _number(_text(gpu, "pci/pci_gpu_link_info/link_widths/current_link_width").rstrip("x"))
    most = _number(_text(gpu, "pci/pci_gpu_link_info/link_widths/max_link_width").rstrip("x"))
    if width is not None and most is not None and width < most:
        yield "pcie", f"{where} runs x{width:g} of x{most:g}", "repair"
    state, status = _text(gpu, "fabric/state"), _text(gpu, "fabric/status")
    if "Completed" in state and _known(status) and "Success" not in status:
        yield "fabric", f"{where}: registration failed, {status}", "reboot"


def _counters(gpu: ElementTree.Element) -> Iterator[tuple[str, float]]:
    for name, path in (
        ("pcie_replay", "pci/replay_counter"),
        ("remapped_uncorrectable", "remapped_rows/remapped_row_unc"),
        ("remapped_correctable", "remapped_rows/remapped_row_corr"),
        ("dram_uncorrectable", "ecc_errors/aggregate/dram_uncorrectable"),
        ("sram_uncorrectable", "ecc_errors/aggregate/sram_uncorrectable_parity"),
        ("temperature", "temperature/gpu_temp"),
    ):
        value = _number(_text(gpu, path).removesuffix(" C"))
        if value is not None:
            yield name, value


def _recovery(text: str) -> str:
    """Return the action for a name such as `Reset`, `Reboot` or `Drain and Reset`; names differ between drivers."""
    words = text.lower()
    if "p2p" in words and "reset" not in words:
        return "inspect"
    return "reboot" if "reboot" in words or "bus" in words else "reset" if "reset" in words else "inspect"


def _text(element: ElementTree.Element, path: str) -> str:
    return element.findtext(path, "").strip()


def _known(text: str) -> str:
    return "" if text in ("N/A", "[N/A]", "0", "Unknown") else text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
