"""The ranks of the processes, for Lightning's strategies."""

from __future__ import annotations

import os

from .._context import Context
from ._package import environments


class Environment(environments.ClusterEnvironment):
    """Tells ``Trainer(devices=…, num_nodes=…)`` of the processes that ``trainyard.launch.torch``
    (or ``torchrun``) has started: one for each slot of the trial, so Lightning starts none itself.

    Give it as ``Trainer(plugins=[Environment(ctx)])``, with ``ctx.distributed.local_size`` devices
    and ``ctx.distributed.cross_size`` nodes; other numbers are refused.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self._distributed = ctx.distributed
        self._info = ctx.info

    @property
    def creates_processes_externally(self) -> bool:
        """The launcher has started them."""
        return True

    @property
    def main_address(self) -> str:
        """Where rank 0 is."""
        return os.environ.get("MASTER_ADDR") or self._info.master_addr

    @property
    def main_port(self) -> int:
        """A port that is free for the run where rank 0 is."""
        return int(os.environ.get("MASTER_PORT") or self._info.master_port)

    @staticmethod
    def detect() -> bool:
        """False: Lightning never detects this environment, the user passes it."""
        return False

    def world_size(self) -> int:
        """The processes of the run."""
        return self._distributed.size

    def set_world_size(self, size: int) -> None:
        """The launcher has decided this."""

    def global_rank(self) -> int:
        """This process's rank among all."""
        return self._distributed.rank

    def set_global_rank(self, rank: int) -> None:
        """The launcher has decided this."""

    def local_rank(self) -> int:
        """This process's rank on its host."""
        return self._distributed.local_rank

    def node_rank(self) -> int:
        """This host's rank."""
        return self._distributed.cross_rank

    def validate_settings(self, num_devices: int, num_nodes: int) -> None:
        """Raises ValueError where the trainer expects other processes than there are."""
        here, hosts = self._distributed.local_size, self._distributed.cross_size
        if (num_devices, num_nodes) != (here, hosts):
            raise ValueError(
                f"Trainer(devices={num_devices}, num_nodes={num_nodes}) does not fit this run, "
                f"which has {here} processes on each of {hosts} hosts: pass "
                "devices=ctx.distributed.local_size and num_nodes=ctx.distributed.cross_size"
            )
