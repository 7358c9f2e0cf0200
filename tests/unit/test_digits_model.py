"""Model folder of the training example: ONNX Runtime predicts as the trained network does, and the folder is accepted."""

import sys
from pathlib import Path

import checkpoints
import numpy as np
import pytest

from landbridge.models.files.folder import ModelFolder, read_folder

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train two epochs with the functions of network.py, and return the run's folder of checkpoints."""
    sys.path.insert(0, str(DIGITS))
    import digits_data
    import jax
    import network

    state = network.init_state(16, 7)
    (x, y), _ = digits_data.load_data(7)
    step = jax.jit(network.train_step, static_argnums=3)
    for start in range(0, 2 * len(x) - 128, 128):
        chosen = np.arange(start, start + 128) % len(x)
        state, loss = step(state, x[chosen], y[chosen], 2e-3)
    arrays = {name: np.asarray(value) for name, value in state.items()}
    folder = tmp_path_factory.mktemp("run")
    checkpoints.write(folder, 2, arrays, {"seed": 7, "loss": float(loss)})
    return folder


def test_onnx_runtime_predicts_as_the_trained_network(run: Path, tmp_path: Path) -> None:
    import digits_data
    import export_model
    import jax
    import network
    import onnxruntime

    place = tmp_path / "digits"
    words = [str(run), str(place), "--dataset", "digits@1", "--run", "r1", "--commit", "0" * 40, "--job", "12"]
    assert export_model.main(words) == 0
    folder = read_folder(place, with_weights=True)
    assert isinstance(folder, ModelFolder), folder
    saved = checkpoints.newest(run)
    assert saved is not None
    _, (test_x, test_y) = digits_data.load_data(7)
    expected = np.asarray(jax.nn.softmax(network.logits(saved.arrays(), test_x), axis=1))
    session = onnxruntime.InferenceSession(folder.weights, providers=["CPUExecutionProvider"])
    (actual,) = session.run(["probabilities"], {"x": test_x})
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    assert folder.manifest.metrics["accuracy"] == pytest.approx(np.mean(expected.argmax(axis=1) == test_y))
    assert folder.manifest.lineage.dataset == "digits@1" and folder.manifest.lineage.job == "12"
    assert [tensor.shape for tensor in folder.manifest.inputs] == [(-1, 64)]
    assert len(folder.manifest.reference["features"]) == 64


def test_a_damaged_checkpoint_and_a_present_folder_are_refused(run: Path, tmp_path: Path) -> None:
    import export_model

    assert export_model.main([str(run), str(tmp_path)]) == 2
    (tmp_path / "empty").mkdir()
    assert export_model.main([str(tmp_path / "empty"), str(tmp_path / "new")]) == 2
    assert not (tmp_path / "new").exists()
