"""The ranks of the run's processes, for Lightning's strategies."""

from __future__ import annotations

import os

from .._context import Context
from ._package import environments


class Environment(environments.ClusterEnvironment):
    """Describes the processes that ``trainyard.launch.torch`` (or ``torchrun``) has started to
    ``Trainer(devices=…, num_nodes=…)``: one for each slot of the trial, so that Lightning starts none itself.

    Pass it as ``Trainer(plugins=[Environment(ctx)])``, with ``ctx.distributed.local_size`` devices and
    ``ctx.distributed.cross_size`` nodes; other numbers are refused.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self._distributed = ctx.distributed
        self._info = ctx.info

    @property
    def creates_processes_externally(self) -> bool:
        """True: the launcher has started the processes."""
        return True

    @property
    def main_address(self) -> str:
        """The address of rank 0."""
        return os.environ.get("MASTER_ADDR") or self._info.master_addr

    @property
    def main_port(self) -> int:
        """A port on rank 0's host that is reserved for the run."""
        return int(os.environ.get("MASTER_PORT") or self._info.master_port)

    @staticmethod
    def detect() -> bool:
        """False: Lightning never detects this environment; the user passes it."""
        return False

    def world_size(self) -> int:
        """The number of the run's processes."""
        return self._distributed.size

    def set_world_size(self, size: int) -> None:
        """Does nothing: the launcher decides the number of processes."""

    def global_rank(self) -> int:
        """This process's rank among all processes."""
        return self._distributed.rank

    def set_global_rank(self, rank: int) -> None:
        """Does nothing: the launcher decides the ranks."""

    def local_rank(self) -> int:
        """This process's rank on its host."""
        return self._distributed.local_rank

    def node_rank(self) -> int:
        """This host's rank among the hosts."""
        return self._distributed.cross_rank

    def validate_settings(self, num_devices: int, num_nodes: int) -> None:
        """Raises ValueError if the trainer expects other numbers of processes or hosts than the run has."""
        here, hosts = self._distributed.local_size, self._distributed.cross_size
        if (num_devices, num_nodes) != (here, hosts):
            raise ValueError(
                f"Trainer(devices={num_devices}, num_nodes={num_nodes}) does not fit this run, "
                f"which has {here} processes on each of {hosts} hosts: pass "
                "devices=ctx.distributed.local_size and num_nodes=ctx.distributed.cross_size"
            )
