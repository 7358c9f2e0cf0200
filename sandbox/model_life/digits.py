"""Digits models: scikit-learn trains the network of the example, and the example's own export writes the model folder."""

import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits"
SEED = 7


def example(name: str) -> Any:
    """Import a module of the digits example."""
    import importlib

    if str(_EXAMPLE) not in sys.path:
        sys.path.insert(0, str(_EXAMPLE))
    return importlib.import_module(name)


def train(folder: Path, work: Path, *, passes: int, are_swapped: bool = False) -> float:
    """Train a network, write its model folder, and return its accuracy. `are_swapped`: the labels 3 and 8 are exchanged."""
    from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
    from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]

    (x, y), _ = example("digits_data").load_data(SEED)
    if are_swapped:
        y = y.copy()
        three, eight = y == 3, y == 8
        y[three], y[eight] = 8, 3
    network = MLPClassifier((32, 32), max_iter=passes, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(x, y)
    arrays = {f"w{layer}": values.astype("float32") for layer, values in enumerate(network.coefs_)}
    arrays |= {f"b{layer}": values.astype("float32") for layer, values in enumerate(network.intercepts_)}
    checkpoints = example("checkpoints")
    checkpoints.write(work / f"{folder.name}-run", passes, arrays, {"seed": SEED, "loss": float(network.loss_)})
    saved = checkpoints.newest(work / f"{folder.name}-run")
    example("export_model").export(saved, folder, "internal", {"dataset": "digits@1"})
    _, (test_x, test_y) = example("digits_data").load_data(SEED)
    return float(network.score(test_x, test_y))


@cache
def labelled_rows() -> tuple[list[list[float]], list[int]]:
    """Return the rows that clients send, and their true labels."""
    (train_x, train_y), (test_x, test_y) = example("digits_data").load_data(SEED)
    return [*train_x.tolist(), *test_x.tolist()], [*train_y.tolist(), *test_y.tolist()]
