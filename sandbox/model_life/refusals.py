"""Model folders that a model server refuses at load: tampered, unsigned, and with a pickle."""

import hashlib
import json
import pickle
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from sandbox.demo.report import DemoError
from sandbox.model_life.serving import LoopbackServing, server_command


def refused_folders(serving: LoopbackServing, model: Path) -> Mapping[str, str]:
    """Return the reason of each refusal, by the case."""
    return {case: _reason(serving, case, model) for case in ("tampered", "unsigned", "pickle")}


def _reason(serving: LoopbackServing, case: str, model: Path) -> str:
    folder = serving.folder / "refused" / case
    shutil.copytree(model, folder)
    weights = folder / "model.onnx"
    match case:
        case "tampered":
            changed = bytearray(weights.read_bytes())
            changed[len(changed) // 2] ^= 1
            weights.write_bytes(changed)
        case "unsigned":
            (folder / "model.sig").unlink()
        case _:
            content = pickle.dumps({"weights": [0.0]})
            weights.write_bytes(content)
            manifest = json.loads((folder / "model.json").read_text())
            file = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            (folder / "model.json").write_text(json.dumps(manifest | {"files": {weights.name: file}}))
    line = server_command(serving.settings(f"refused-{case}", folder), "--check")
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 1 or not done.stderr.startswith("refused: "):
        raise DemoError(f"the {case} folder was not refused: {done.stderr[-500:]}")
    return done.stderr.removeprefix("refused: ").strip()
