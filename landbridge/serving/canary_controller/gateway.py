"""Shares of the versions at an HAProxy, over all servers of each."""

from dataclasses import dataclass
from pathlib import Path

from landbridge.serving.canary_controller.runtime_socket import present_weights, save_state, server_weights, set_weights


@dataclass(frozen=True, slots=True)
class HaproxyShares:
    """Servers of a backend by version. A server of neither version keeps the weight 0 until it says which one it has.

    `state_file` keeps the weights over a reload of HAProxy.
    """

    socket: Path
    backend: str
    champion: tuple[str, ...]
    candidate: tuple[str, ...]
    all_servers: tuple[str, ...]
    state_file: Path | None = None

    def set_share(self, percent: int) -> None:
        """Set the weights. Without a ready champion, its share is not changed: otherwise no server would get these requests."""
        if not self.champion and percent < 100:
            return
        first, second = server_weights(percent, len(self.champion), len(self.candidate))
        weights = dict.fromkeys(self.all_servers, 0)
        weights |= dict.fromkeys(self.champion, first) | dict.fromkeys(self.candidate, second)
        present = present_weights(self.socket, self.backend)
        if all(present.get(name) == weight for name, weight in weights.items()):
            return
        set_weights(self.socket, self.backend, weights)
        if self.state_file is not None:
            save_state(self.socket, self.state_file)
