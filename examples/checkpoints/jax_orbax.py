"""Training job with JAX and Orbax: saved in the background; a later start may have another number of devices or processes.

A layer whose rows are sharded over all devices, with Adam, on generated data. One process, or one for each node
(`JAX_PROCESSES`, `JAX_PROCESS`, `JAX_COORDINATOR`, or `srun` with one task for each node). All processes of Orbax write to one
folder: a shared file system if they are on several nodes.
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from landbridge_checkpoints import ShardedCheckpoints

TOKEN_BYTES = 1024


def initial_state(width: int, hidden: int, sharding: NamedSharding) -> dict[str, Any]:
    """Return weights by their seed, and moments, each on its device."""

    def array(seed: int | None) -> jax.Array:
        def rows(index: tuple[slice, ...]) -> np.ndarray[Any, Any]:
            start, stop, _ = index[0].indices(hidden)
            shape = (stop - start, width)
            if seed is None:
                return np.zeros(shape, np.float32)
            values = (
                np.random.default_rng((seed, row)).standard_normal(width, np.float32) for row in range(start, stop)
            )
            return np.stack(list(values)) * np.float32(width**-0.5)

        return jax.make_array_from_callback((hidden, width), sharding, rows)

    weights = {"first": array(1), "second": array(2)}
    moments = {f"{kind}.{name}": array(None) for kind in ("mean", "square") for name in weights}
    return {**weights, **moments}


@partial(jax.jit, donate_argnums=0)
def train_step(state: dict[str, Any], inputs: jax.Array, number: jax.Array) -> tuple[dict[str, Any], jax.Array]:
    """Return the state after a step of Adam, and the loss."""

    def loss_of(weights: dict[str, jax.Array]) -> jax.Array:
        outputs = jax.nn.relu(inputs @ weights["first"].T) @ weights["second"]
        return ((outputs - jnp.flip(jnp.sin(inputs), 1)) ** 2).mean()

    weights = {name: state[name] for name in ("first", "second")}
    loss, gradients = jax.value_and_grad(loss_of)(weights)
    new: dict[str, Any] = {}
    for name, gradient in gradients.items():
        mean = 0.9 * state[f"mean.{name}"] + 0.1 * gradient
        square = 0.999 * state[f"square.{name}"] + 0.001 * gradient**2
        update = mean / (1 - 0.9**number) / (jnp.sqrt(square / (1 - 0.999**number)) + 1e-8)
        new |= {name: weights[name] - 3e-4 * update, f"mean.{name}": mean, f"square.{name}": square}
    return new, loss


def opened(store: ShardedCheckpoints, rank: int) -> None:
    """Join the start of the run: the first process opens it, and the others get its token."""
    token = np.zeros(TOKEN_BYTES, np.uint8)
    if rank == 0:
        text = store.open().encode()
        token[: len(text)] = np.frombuffer(text, np.uint8)
    if jax.process_count() > 1:
        token = multihost_utils.broadcast_one_to_all(token)
    if rank:
        store.open(bytes(np.asarray(token)).rstrip(b"\0").decode())


def train(words: argparse.Namespace) -> None:
    """Train from the newest complete checkpoint up to the last step."""
    rank, ranks = jax.process_index(), jax.process_count()
    mesh = Mesh(np.array(jax.devices()), ("rows",))
    sharding, everywhere = NamedSharding(mesh, PartitionSpec("rows")), NamedSharding(mesh, PartitionSpec())
    state, done = initial_state(words.width, words.hidden, sharding), 0
    store = ShardedCheckpoints(rank=rank, ranks=ranks, one_folder=True, limit_mbit=words.limit_mbit)
    opened(store, rank)
    checkpointer = ocp.StandardCheckpointer()
    begin = time.monotonic()
    if restored := store.restore():
        form = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=leaf.sharding), state)
        state = checkpointer.restore(restored.path / "state", form)
        done = restored.step
        report(f"restored step {done} with {len(jax.devices())} devices in {time.monotonic() - begin:.3f} s")

    def write(folder: Path) -> Callable[[], None]:
        checkpointer.save(folder / "state", state)
        return checkpointer.wait_until_finished

    for step in range(done + 1, words.steps + 1):
        values = np.random.default_rng((7, step)).standard_normal((words.batch, words.width), np.float32)
        inputs = jax.make_array_from_callback(values.shape, everywhere, values.__getitem__)
        state, loss = train_step(state, inputs, jnp.float32(step))
        report(f"step {step} loss={float(loss)!r}")
        if words.every and step % words.every == 0:
            begin = time.monotonic()
            if words.blocking:
                with store.writing(step) as folder:
                    write(folder)()
            else:
                store.write_behind(step, write)
            report(f"saving step {step} blocked {time.monotonic() - begin:.3f} s")
    report("trained")
    report("finished" if store.finish(timeout=300) else "not complete")


def report(line: str) -> None:
    """Print a line of the first process."""
    if jax.process_index() == 0:
        print(line, flush=True)


def main() -> None:
    """Read the arguments, join the other processes and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("steps", 60), ("every", 20), ("width", 256), ("hidden", 1024), ("batch", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--limit-mbit", type=float, help="bandwidth of uploads in Mbit/s")
    parser.add_argument("--blocking", action="store_true", help="wait for the files of each checkpoint")
    words = parser.parse_args()
    processes = int(os.environ.get("JAX_PROCESSES") or os.environ.get("SLURM_NTASKS") or 1)
    if processes > 1:
        jax.distributed.initialize(
            os.environ.get("JAX_COORDINATOR"),
            processes,
            int(os.environ.get("JAX_PROCESS") or os.environ["SLURM_PROCID"]),
        )
    train(words)


if __name__ == "__main__":
    main()
