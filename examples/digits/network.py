"""Network with two hidden layers for the digits, its loss, and Adam's training step."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def init_state(hidden: int, seed: int) -> dict[str, np.ndarray]:
    """Return initial parameters (w*, b*) and Adam's moments (m.*, v.*), the same on every process."""
    draw = np.random.default_rng(seed)
    shapes = {
        "w0": (64, hidden),
        "b0": (hidden,),
        "w1": (hidden, hidden),
        "b1": (hidden,),
        "w2": (hidden, 10),
        "b2": (10,),
    }
    state: dict[str, np.ndarray] = {}
    for name, shape in shapes.items():
        scale = np.sqrt(2.0 / shape[0]) if len(shape) == 2 else 0.0
        state[name] = (draw.standard_normal(shape) * scale).astype(np.float32)
        state[f"m.{name}"] = state[f"v.{name}"] = np.zeros(shape, np.float32)
    state["step"] = np.zeros((), np.int32)
    return state


def logits(state: dict[str, Any], x: Any) -> Any:
    """Return the network's logits: two hidden layers with ReLU."""
    x = jax.nn.relu(x @ state["w0"] + state["b0"])
    x = jax.nn.relu(x @ state["w1"] + state["b1"])
    return x @ state["w2"] + state["b2"]


def loss_of(state: dict[str, Any], x: Any, y: Any) -> Any:
    """Return the mean cross entropy."""
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits(state, x)), y[:, None], axis=1))


def train_step(state: dict[str, Any], x: Any, y: Any, rate: float) -> tuple[dict[str, Any], Any]:
    """Return the new state and the loss after one Adam step on a global batch."""
    weights = {k: v for k, v in state.items() if k[0] in "wb"}
    loss, gradients = jax.value_and_grad(loss_of)(weights, x, y)
    step = state["step"] + 1
    new: dict[str, Any] = {"step": step}
    for name, gradient in gradients.items():
        m = 0.9 * state[f"m.{name}"] + 0.1 * gradient
        v = 0.999 * state[f"v.{name}"] + 0.001 * gradient**2
        new[f"m.{name}"], new[f"v.{name}"] = m, v
        new[name] = state[name] - rate * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return new, loss
