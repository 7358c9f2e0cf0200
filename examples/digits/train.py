"""Data-parallel training of a small network on scikit-learn's handwritten digits, with JAX.

One process per node uses all devices of the node: batches are sharded over every device of the run, parameters are
replicated, and XLA inserts the all-reduce of the gradients. The same program runs on CPUs (gloo between processes) and
on GPUs (NCCL). Exit codes: 0 done; 1 a process failed; 2 invalid environment or options; 143 SIGTERM, after a
checkpoint; 4 training is done, but MLflow or the bucket was unreachable.
"""

import argparse
import getpass
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import checkpoints
import collectives
import jax
import numpy as np
import world
from digits_data import load_data
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from network import init_state, logits, train_step

INTERRUPTED, UNTRACKED = 143, 4


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument(
        "--batch-size", type=int, default=128, help="global batch; rounded down to a multiple of devices"
    )
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--checkpoint-dir", type=Path, default=Path("checkpoints"))
    parser.add_argument("--checkpoint-every", type=int, default=2, metavar="EPOCHS")
    parser.add_argument("--keep", type=int, default=3, help="checkpoints kept on disk")
    parser.add_argument("--seconds-per-epoch-floor", type=float, default=0.0, help="an epoch takes at least this long")
    parser.add_argument(
        "--checkpoint-url",
        help="s3://BUCKET/PREFIX of copies of the checkpoints (empty: none; default: LANDBRIDGE_CHECKPOINT_URL, if the "
        "package landbridge_checkpoints is there)",
    )
    parser.add_argument("--run-name", help="identity of the run for resuming (default: cluster and job id)")
    parser.add_argument("--experiment", default="digits")
    parser.add_argument("--no-resume", action="store_true", help="start from the beginning; without copies in a bucket")
    return parser.parse_args(argv)


def to_host(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return replicated arrays as NumPy arrays (each process has a complete copy)."""
    return {name: np.asarray(value.addressable_data(0)) for name, value in state.items()}


def restore(state: dict[str, np.ndarray], saved: checkpoints.Checkpoint) -> dict[str, np.ndarray]:
    """Return the saved state. Raises SystemExit if it belongs to another network."""
    arrays = saved.arrays()
    expected_shapes, saved_shapes = {k: v.shape for k, v in state.items()}, {k: v.shape for k, v in arrays.items()}
    if expected_shapes != saved_shapes:
        raise SystemExit(
            f"{saved.path}: the checkpoint is of another network; choose another --run-name or --no-resume"
        )
    return arrays


def failed(tracker: Any, kind: type[BaseException] | None, *_: object) -> None:
    """End the MLflow run as FAILED after an exception; otherwise MLflow would show it as running."""
    if kind is not None:
        tracker.close("FAILED", timeout=20.0)


def main(ending: ExitStack, argv: list[str] | None = None) -> int:
    """Train, and return the exit code (see the module's docstring). Callbacks of `ending` run first after a failure."""
    options = arguments(argv)
    try:
        place = world.read_world()
    except world.WorldError as error:
        print(f"digits: {error}", file=sys.stderr)
        return 2
    if place.size > 1:
        jax.distributed.initialize(place.coordinator, place.size, place.rank)
        if problem := collectives.listen_at(collectives.address_towards(str(place.coordinator))):
            print(f"digits: {problem}", file=sys.stderr)
    stop = threading.Event()
    # After initialize, because JAX's coordination service installs a SIGTERM handler too.
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def say(message: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} [{place.rank}/{place.size} {place.hostname}] {message}", flush=True)

    mesh = Mesh(np.array(jax.devices()), ("data",))
    devices = mesh.size
    hosts = collectives.hosts_of(place.hostname)
    run_name = options.run_name or f"{place.cluster}-{place.job_id or 'local'}"
    root = options.checkpoint_dir / run_name
    batch = options.batch_size - options.batch_size % devices
    if batch < devices:
        print(f"digits: --batch-size {options.batch_size} is less than the run's {devices} devices", file=sys.stderr)
        return 2

    tracker = None
    if place.leads:
        say(f"{place.size} processes on {hosts}, {devices} {jax.devices()[0].platform} devices, site {place.site}")
        if os.environ.get("MLFLOW_TRACKING_URI"):
            from tracking import Tracker  # only rank 0 needs MLflow, which takes a second to import

            tags = {
                "landbridge.run": run_name,
                "landbridge.cluster": place.cluster,
                "landbridge.site": place.site,
                "landbridge.job_id": place.job_id,
                "landbridge.hostnames": hosts,
                "landbridge.restarts": str(place.restarts),
                "mlflow.source.name": "examples/digits/train.py",
                "mlflow.user": getpass.getuser(),
            }
            tracker = Tracker(options.experiment, f"{place.job_name} ({run_name})", tags, say)
            ending.push(partial(failed, tracker))
            tracker.tags(tags)
            tracker.params(
                {
                    "batch_size": batch,
                    "hidden": options.hidden,
                    "learning_rate": options.learning_rate,
                    "seed": options.seed,
                }
            )
            say(f"MLflow run {tracker.run_id}")
        else:
            say("MLFLOW_TRACKING_URI is not set: this run is not tracked")

    copies, url = None, options.checkpoint_url
    if url is None:
        url = os.environ.get("LANDBRIDGE_CHECKPOINT_URL", "")
    if place.leads and url and not options.no_resume:
        try:
            from bucket_copies import open_copies  # needs a further package
        except ImportError:
            # The prolog sets the variable for every job, also for those that were copied without the package.
            hint = f"copies in {url} need the package landbridge_checkpoints beside train.py (examples/checkpoints)"
            if options.checkpoint_url is not None:
                raise SystemExit(hint) from None
            say(f"{hint}: none are made")
        else:
            copies = open_copies(url, run_name, root, options.keep, say)
    state, done = init_state(options.hidden, options.seed), 0
    if place.leads and not options.no_resume:
        saved = checkpoints.newest(root, lambda reason: say(f"passed over: {reason}"))
        if copies is not None:
            saved = copies.newest_after(0 if saved is None else saved.epoch) or saved
        if saved is None and tracker is not None:
            saved = tracker.newest_checkpoint()
        if saved is not None:
            state, done = restore(state, saved), saved.epoch
            say(f"resuming after epoch {done} from {saved.path}")
    if place.size > 1:
        state, done = multihost_utils.broadcast_one_to_all((state, np.int32(done)))
        state, done = {k: np.asarray(v) for k, v in state.items()}, int(done)

    (x, y), (test_x, test_y) = load_data(options.seed)
    replicated, sharded = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    shared: dict[str, Any] = {
        k: jax.make_array_from_process_local_data(replicated, v, v.shape) for k, v in state.items()
    }
    step = jax.jit(train_step, static_argnums=3, donate_argnums=0)
    per_process = batch // place.size
    process_slice = slice(place.rank * per_process, (place.rank + 1) * per_process)
    interrupted = stepped = False

    for epoch in range(done + 1, options.epochs + 1):
        start_time = time.monotonic()
        # The order depends only on seed and epoch: a resumed run gets the same batches.
        order = np.random.default_rng((options.seed, epoch)).permutation(len(x))
        losses = []
        for start in range(0, len(order) - batch + 1, batch):
            chosen = order[start : start + batch][process_slice]
            local = (
                jax.make_array_from_process_local_data(sharded, x[chosen]),
                jax.make_array_from_process_local_data(sharded, y[chosen]),
            )
            shared, loss = step(shared, *local, options.learning_rate)
            losses.append(loss)
            if tracker is not None and not stepped:
                # The time from the start of the job until here is in `landbridge cost tag --metrics`.
                loss.block_until_ready()
                tracker.tags({"landbridge.first_step": f"{time.time():.3f}"})
                stepped = True
        mean_loss = float(np.mean([np.asarray(value.addressable_data(0)) for value in losses]))
        compute_seconds = time.monotonic() - start_time
        stop.wait(max(0.0, options.seconds_per_epoch_floor - compute_seconds))
        interrupted = collectives.any_process(stop.is_set())
        if place.leads:
            host = to_host(shared)
            correct = np.argmax(np.asarray(logits(host, test_x)), axis=1) == test_y
            figures = {
                "loss": mean_loss,
                "test_accuracy": float(np.mean(correct)),
                "samples_per_second": len(losses) * batch / compute_seconds,
                "epoch_seconds": time.monotonic() - start_time,
            }
            say(f"epoch {epoch}/{options.epochs} " + " ".join(f"{k}={v:.4g}" for k, v in figures.items()))
            if tracker is not None:
                tracker.metrics(epoch, figures)
            if interrupted or epoch % options.checkpoint_every == 0 or epoch == options.epochs:
                facts = {
                    "run": run_name,
                    "site": place.site,
                    "hostnames": hosts,
                    "loss": mean_loss,
                    "seed": options.seed,
                }
                written = checkpoints.write(root, epoch, host, facts)
                checkpoints.prune(root, options.keep)
                if copies is not None:
                    copies.send(written)
                if tracker is not None:
                    tracker.checkpoint(written)
        if interrupted:
            break

    delivered = True
    if place.leads:
        say("SIGTERM: checkpoint written, leaving" if interrupted else f"done after epoch {max(done, options.epochs)}")
        if tracker is not None:
            delivered = tracker.close("KILLED" if interrupted else "FINISHED", timeout=20.0 if interrupted else 300.0)
        if copies is not None:
            delivered &= copies.finish(20.0 if interrupted else 300.0)
    if place.size > 1:
        multihost_utils.sync_global_devices("end")
        jax.distributed.shutdown()
    return INTERRUPTED if interrupted else (0 if delivered else UNTRACKED)


def run() -> int:
    """Run `main`; in a run of several processes, exit immediately after a failure.

    A normal exit waits at JAX's barrier for the other processes, which wait in a collective for this one: the job would
    occupy its GPUs until its time limit.
    """
    try:
        with ExitStack() as ending:
            return main(ending)
    except (Exception, SystemExit) as failure:
        if not jax.distributed.is_initialized():
            raise
        if isinstance(failure, SystemExit):
            print(f"digits: {failure}", file=sys.stderr)
        else:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    sys.exit(run())
