"""Scikit-learn's handwritten digits, split to training and test data."""

import numpy as np
from sklearn.datasets import load_digits


def load_data(seed: int) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return (train x, y), (test x, y): the same split on every process."""
    digits = load_digits()
    x, y = (digits.data / 16.0).astype(np.float32), digits.target.astype(np.int32)
    order = np.random.default_rng(seed).permutation(len(x))
    train, test = order[:1437], order[1437:]
    return (x[train], y[train]), (x[test], y[test])
