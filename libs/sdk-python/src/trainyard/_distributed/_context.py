"""Messages between the processes of one run, before and beside torch.distributed.

The processes form a star around the chief, rank 0, over TCP (_join.py, _collectives.py, _wire.py), and the
processes of each host form another around the host's first process. The messages are for coordination (an answer,
a path, a count), not for tensors: everything passes through the chief.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from .._missing_names import DISTRIBUTED, missing_name
from ..errors import DistributedError
from ._group import Group
from ._topology import Topology, check

if TYPE_CHECKING:
    pass


class DistributedContext:
    """The processes that train one trial together.

    ``rank`` of ``size`` in the run, ``local_rank`` of ``local_size`` on this host, and this host is ``cross_rank``
    of ``cross_size``.

    Every rank makes the same calls in the same order. A call waits for the other ranks without a limit; if one of
    them has ended, it raises DistributedError on all.

    The chief is found at ``chief_addr``, or ``chief_ip`` by Determined's name (else ``MASTER_ADDR``), and
    ``chief_port``. On one host the port may be omitted if ``MASTER_PORT`` differs between runs. On several hosts
    its default is two above the task's rendezvous port. The context may be used from several threads if their
    order of calls is the same on all ranks.
    """

    def __init__(
        self,
        *,
        rank: int,
        size: int,
        local_rank: int,
        local_size: int,
        cross_rank: int,
        cross_size: int,
        chief_addr: str | None = None,
        chief_port: int | None = None,
        chief_ip: str | None = None,
    ) -> None:
        topology = Topology(rank, size, local_rank, local_size, cross_rank, cross_size)
        check(topology)
        if size == 1:
            self._group = Group(topology)
        else:
            # A local import: a process that is alone needs neither module.
            from ._join import join
            from ._rendezvous import rendezvous_of

            rendezvous = rendezvous_of(os.environ, cross_size, chief_addr or chief_ip, chief_port)
            self._group = Group(topology, rendezvous, *join(topology, rendezvous))

    @classmethod
    def from_torch_distributed(
        cls, chief_addr: str | None = None, chief_port: int | None = None
    ) -> DistributedContext:
        """The context of a process that ``torchrun`` or ``python -m trainyard.launch.torch`` started.

        Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK and GROUP_WORLD_SIZE; Neither torch nor
        its process group is needed.
        """
        env = os.environ
        local_size = _whole(env, "LOCAL_WORLD_SIZE")
        size = _whole(env, "WORLD_SIZE")
        hosts = env.get("GROUP_WORLD_SIZE") and _whole(env, "GROUP_WORLD_SIZE")
        return cls(
            rank=_whole(env, "RANK"),
            size=size,
            local_rank=_whole(env, "LOCAL_RANK"),
            local_size=local_size,
            cross_rank=_whole(env, "GROUP_RANK"),
            cross_size=hosts or max(1, size // local_size),
            chief_addr=chief_addr,
            chief_port=chief_port,
        )

    if not TYPE_CHECKING:

        @classmethod
        def from_deepspeed(cls, *_arguments: object, **_more: object) -> NoReturn:
            """Raises AttributeError for a script that was written for Determined, with the replacement."""
            raise missing_name("DistributedContext", "from_deepspeed", DISTRIBUTED)

        @classmethod
        def from_horovod(cls, *_arguments: object, **_more: object) -> NoReturn:
            """Raises AttributeError for a script that was written for Determined, with the replacement."""
            raise missing_name("DistributedContext", "from_horovod", DISTRIBUTED)

    @property
    def rank(self) -> int:
        """This process's number in the run, from 0. Rank 0 is the chief."""
        return self._group.topology.rank

    @property
    def size(self) -> int:
        """The number of processes in the run."""
        return self._group.topology.size

    @property
    def local_rank(self) -> int:
        """This process's number on its host, from 0."""
        return self._group.topology.local_rank

    @property
    def local_size(self) -> int:
        """The number of the run's processes on this host."""
        return self._group.topology.local_size

    @property
    def cross_rank(self) -> int:
        """This host's number, from 0."""
        return self._group.topology.cross_rank

    @property
    def cross_size(self) -> int:
        """The number of hosts in the run."""
        return self._group.topology.cross_size

    def get_rank(self) -> int:
        """Determined's name for ``rank``."""
        return self.rank

    def get_size(self) -> int:
        """Determined's name for ``size``."""
        return self.size

    def get_local_rank(self) -> int:
        """Determined's name for ``local_rank``."""
        return self.local_rank

    def get_local_size(self) -> int:
        """Determined's name for ``local_size``."""
        return self.local_size

    def get_cross_rank(self) -> int:
        """Determined's name for ``cross_rank``."""
        return self.cross_rank

    def get_cross_size(self) -> int:
        """Determined's name for ``cross_size``."""
        return self.cross_size

    @property
    def is_chief(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    @property
    def is_local_chief(self) -> bool:
        """Whether this is its host's first process."""
        return self.local_rank == 0

    def gather(self, stuff: object) -> list[Any] | None:
        """Returns the values of all ranks, in their order, on the chief; returns None on the others, at once.
        Values are pickled for sending.
        """
        return self._group.gather(stuff)

    def gather_local(self, stuff: object) -> list[Any] | None:
        """Returns the values of a host's processes on its first process; None on the others."""
        return self._group.gather_local(stuff)

    def allgather(self, stuff: object) -> list[Any]:
        """Returns the values of all ranks, in their order, on every rank."""
        return self._group.allgather(stuff)

    def allgather_local(self, stuff: object) -> list[Any]:
        """Returns the values of a host's processes on each of them."""
        return self._group.allgather_local(stuff)

    def broadcast(self, stuff: object) -> Any:
        """Returns the chief's value on every rank. The chief does not wait for the others."""
        return self._group.broadcast(stuff)

    def broadcast_local(self, stuff: object = None) -> Any:
        """Returns the value of a host's first process on all processes of the host."""
        return self._group.broadcast_local(stuff)

    def barrier(self) -> None:
        """Returns once every rank has called it."""
        self.allgather(None)

    def close(self) -> None:
        """Leaves the group; a later call of any other method raises. A second close does nothing."""
        self._group.close()


def group_of(context: DistributedContext) -> Group:
    """The group behind a context, for the SDK itself."""
    return context._group  # noqa: SLF001 — the only way to it


def alone() -> DistributedContext:
    """Returns the context of a run with a single process."""
    return DistributedContext(
        rank=0, size=1, local_rank=0, local_size=1, cross_rank=0, cross_size=1
    )


def _whole(env: Mapping[str, str], name: str) -> int:
    text = env.get(name)
    try:
        return int(text or "")
    except ValueError:
        raise DistributedError(
            f"from_torch_distributed needs {name} in the environment, not {text!r}: start the "
            "script with torchrun or python -m trainyard.launch.torch"
        ) from None
