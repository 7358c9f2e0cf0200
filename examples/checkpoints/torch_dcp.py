"""Training job with PyTorch DCP: each rank saves its shards in the background; a later start may have another number of ranks.

A tensor-parallel layer (rows of both weights are sharded) with Adam, on generated data. `torchrun --nproc-per-node=N torch_dcp.py`,
or `srun` with one task for each GPU. State that depends on the number of ranks would be not a checkpoint: the data is chosen by the step.
"""

import argparse
import os
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from landbridge_checkpoints import ShardedCheckpoints
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Shard

BLOCKS = 64  # rows of the hidden layer are generated in so many blocks, by the seed of each
STATES = ("exp_avg", "exp_avg_sq")


class SumOverRanks(torch.autograd.Function):
    """Sum of the ranks' products. It goes over the CPU, since two ranks of NCCL cannot share a GPU."""

    @staticmethod
    def forward(context: Any, value: torch.Tensor) -> torch.Tensor:
        """Return the sum over all ranks."""
        total = value.detach().cpu()
        dist.all_reduce(total)
        return total.to(value.device)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        """Return the gradient of each rank's product."""
        return gradient


def generated(seed: int, rows: int, columns: int, device: torch.device) -> torch.Tensor:
    """Return random numbers that depend on the seed alone."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator).to(device)


class Layer:
    """Shard of one rank of the layer, its optimiser, and both as a sharded state of DCP."""

    def __init__(self, width: int, hidden: int, rank: int, ranks: int, device: torch.device) -> None:
        blocks = [rank * BLOCKS // ranks + number for number in range(BLOCKS // ranks)]
        self.width, self.device = width, device
        self.weights = [
            torch.nn.Parameter(
                torch.cat([generated(1000 * layer + block, hidden // BLOCKS, width, device) for block in blocks])
                * width**-0.5
            )
            for layer in (1, 2)
        ]
        self.mesh = DeviceMesh(device.type, list(range(ranks)))
        self.optimiser = torch.optim.Adam(self.weights, lr=3e-4)

    def step(self, number: int, batch: int) -> float:
        """Train on the data of a step, and return its loss."""
        inputs = generated(-number, batch, self.width, self.device)
        outputs = SumOverRanks.apply(torch.relu(inputs @ self.weights[0].T) @ self.weights[1])
        loss = ((outputs - inputs.sin().flip(1)) ** 2).mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return float(loss.detach())

    def state(self) -> dict[str, Any]:
        """Return weights and moments as DTensors that share their memory."""
        tensors: dict[str, Any] = {}
        for number, weight in enumerate(self.weights):
            tensors[f"weight.{number}"] = self._sharded(weight.detach())
            moments = self.optimiser.state[weight]
            if not moments:
                moments |= {name: torch.zeros_like(weight) for name in STATES} | {"step": torch.tensor(0.0)}
            tensors |= {f"{name}.{number}": self._sharded(moments[name]) for name in STATES}
            tensors[f"step.{number}"] = moments["step"]
        return tensors

    def _sharded(self, tensor: torch.Tensor) -> DTensor:
        return DTensor.from_local(tensor, self.mesh, [Shard(0)], run_check=False)


def train(words: argparse.Namespace, rank: int, ranks: int) -> None:
    """Train from the newest complete checkpoint up to the last step."""
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", rank % gpus) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    layer, done = Layer(words.width, words.hidden, rank, ranks, device), 0
    # Collectives of the saving thread must not mix with those of the training loop.
    saving = dist.new_group(backend="gloo")
    store = ShardedCheckpoints(rank=rank, ranks=ranks, limit_mbit=words.limit_mbit)
    token = [store.open() if rank == 0 else None]
    dist.broadcast_object_list(token)
    if rank:
        store.open(token[0])
    begin = time.monotonic()
    if restored := store.restore():
        dcp.load(layer.state(), checkpoint_id=str(restored.path))
        done = restored.step
        report(rank, f"restored step {done} with {ranks} ranks in {time.monotonic() - begin:.3f} s")

    def write(folder: Path) -> Any:
        response = dcp.async_save(layer.state(), checkpoint_id=str(folder), process_group=saving)
        return response.result

    for step in range(done + 1, words.steps + 1):
        loss = layer.step(step, words.batch)
        report(rank, f"step {step} loss={loss!r}")
        if words.every and step % words.every == 0:
            begin = time.monotonic()
            if words.blocking:
                with store.writing(step, {"loss": loss}) as folder:
                    dcp.save(layer.state(), checkpoint_id=str(folder), process_group=saving)
            else:
                store.write_behind(step, write, {"loss": loss})
            report(rank, f"saving step {step} blocked {time.monotonic() - begin:.3f} s")
    report(rank, "trained")
    complete = store.finish(timeout=300)
    report(rank, "finished" if complete else "not complete")


def report(rank: int, line: str) -> None:
    """Print a line of the first rank."""
    if rank == 0:
        print(line, flush=True)


def main() -> None:
    """Read the arguments, join the other ranks and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("steps", 60), ("every", 20), ("width", 256), ("hidden", 1024), ("batch", 64)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--limit-mbit", type=float, help="bandwidth of uploads in Mbit/s")
    parser.add_argument("--blocking", action="store_true", help="save with dcp.save instead of dcp.async_save")
    words = parser.parse_args()
    for name, variable in (("RANK", "SLURM_PROCID"), ("WORLD_SIZE", "SLURM_NTASKS")):
        os.environ.setdefault(name, os.environ.get(variable, "0" if name == "RANK" else "1"))
    for name, value in (("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29400")):
        os.environ.setdefault(name, value)
    dist.init_process_group("cpu:gloo,cuda:gloo" if torch.cuda.is_available() else "gloo")
    train(words, dist.get_rank(), dist.get_world_size())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
