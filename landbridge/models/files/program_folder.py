"""Verification of a folder that another program loads, such as vLLM or Triton: any files, all of them signed."""

from datetime import UTC, datetime
from pathlib import Path

from landbridge.findings import Finding
from landbridge.models.files.signature import check_signature
from landbridge.models.files.verify import ModelRefusal
from landbridge.models.manifest import LARGEST_BYTES
from landbridge.models.names import SIGNATURE_FILE
from landbridge.models.signers import RULE, ModelTrust
from landbridge.user_files import read_user_file


def verify_program_folder(folder: Path, trust: ModelTrust, *, now: datetime | None = None) -> str | ModelRefusal:
    """Return the signer of a folder without a manifest, or all reasons why it is refused.

    The formats of its files are not examined: some are code, and the signer is responsible for them.
    """
    try:
        signature = read_user_file(folder / SIGNATURE_FILE, LARGEST_BYTES)
    except FileNotFoundError:
        fix = "sign it: landbridge model sign FOLDER"
        return ModelRefusal(folder, (Finding(RULE, f"the folder is not signed: {SIGNATURE_FILE} is missing", fix=fix),))
    except OSError as error:
        return ModelRefusal(folder, (Finding(RULE, f"{folder / SIGNATURE_FILE}: {error.strerror}"),))
    except ValueError as error:
        return ModelRefusal(folder, (Finding(RULE, str(error), file=SIGNATURE_FILE),))
    checked = check_signature(folder, signature, trust, now or datetime.now(UTC))
    faults = [*checked.faults, *([checked.other_files] if checked.other_files else [])]
    if faults:
        return ModelRefusal(folder, tuple(Finding(RULE, fault, file=SIGNATURE_FILE) for fault in faults))
    return checked.signer
