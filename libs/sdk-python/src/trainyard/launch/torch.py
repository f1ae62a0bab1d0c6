"""``python -m trainyard.launch.torch``: one process for each slot of this node, for torch.distributed.

    python -m trainyard.launch.torch [OPTIONS…] [--] SCRIPT|-m MODULE [ARGUMENTS…]

The task's environment sets the number of processes and nodes and the address of their rendezvous; a node without
slots runs one process. Outside of a task torchrun's options set them. Each process gets torchrun's variables
(RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, MASTER_ADDR, MASTER_PORT), and its
lines are prefixed with ``[rank=N]``. When a rank fails, all others are stopped, on every node, and its failure is
the recorded cause of the run's end.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .. import _info
from .._distributed import DistributedContext
from .._distributed._context import alone
from .._limits import LAUNCH_GRACE_S, LAUNCH_PORT_FIRST, LAUNCH_PORTS
from ..errors import TrainyardError
from ._group import Group
from ._guard import Guard
from ._nodes import Nodes
from ._options import Options, UsageError, parse
from ._rank import RankProcess

USAGE = "usage: python -m trainyard.launch.torch [OPTIONS...] [--] SCRIPT|-m MODULE [ARGUMENTS...]"
# The offset of the launchers' port from the run's first reserved port, which is torch's.
_NODES_PORT_OFFSET = 1


class Node(NamedTuple):
    """This node, and the address of the first node."""

    rank: int
    nodes: int
    processes: int
    master_addr: str
    master_port: int
    """The rendezvous port; 0 for any free port."""
    run_dir: Path | None
    run_id: str


class World(NamedTuple):
    """The facts about the whole run that each process of this node needs."""

    size: int
    first_rank: int
    master_addr: str
    master_port: int
    chief_port: int
    secret: str


def main(arguments: list[str]) -> int:
    """Runs a command line and returns its exit code."""
    try:
        options = parse(arguments, LAUNCH_GRACE_S)
        node = node_of(options, os.environ)
        if options.without_effect:
            named = ", ".join(options.without_effect)
            _say(f"{named}: no effect, because the platform decides this")
        together = _launchers(node)
    except UsageError as error:
        _say(f"{error}\n{USAGE}")
        return 2
    except TrainyardError as error:
        _say(str(error))
        return 1
    nodes = Nodes(together)
    try:
        return _run(options, node, _world_of(node, together), nodes)
    except TrainyardError as error:
        _say(f"the nodes of the run could not agree on their ranks: {error}")
        return 1
    finally:
        nodes.close()


def node_of(options: Options, env: Mapping[str, str]) -> Node:
    """Returns the node of the options, with defaults from the task's environment, otherwise one process on one
    node.
    """
    run_dir: Path | None = None
    run_id = "local"
    rank, count, processes, addr, port = 0, 1, 1, "127.0.0.1", 0
    if _info.in_task(env):
        info = _info.info_of(env)
        rank, count, processes = info.rank, info.nnodes, max(1, len(info.slots))
        addr, port, run_dir, run_id = info.master_addr, info.master_port, info.run_dir, info.run_id
    count = options.nnodes or count
    rank = rank if options.node_rank is None else options.node_rank
    if rank >= count:
        raise UsageError(f"--node-rank {rank} needs --nnodes of at least {rank + 1}")
    addr, port = options.master_addr or addr, options.master_port or port
    if count > 1 and not port:
        raise UsageError("several nodes need --master-port, the same free port of node 0 on each")
    return Node(
        rank=rank,
        nodes=count,
        processes=options.nproc or processes,
        master_addr="127.0.0.1" if count == 1 else addr,
        master_port=port,
        run_dir=run_dir,
        run_id=run_id,
    )


def _launchers(node: Node) -> DistributedContext:
    if node.nodes == 1:
        return alone()
    port = node.master_port + _NODES_PORT_OFFSET
    if node.rank == 0 and _free_port(port, set()) != port:
        raise UsageError(
            f"port {port} of this host, where the launchers of the run meet, is in use: "
            "end what listens there, or give another --master-port on each node"
        )
    return DistributedContext(
        rank=node.rank,
        size=node.nodes,
        local_rank=0,
        local_size=1,
        cross_rank=node.rank,
        cross_size=node.nodes,
        chief_addr=node.master_addr,
        chief_port=port,
    )


def _world_of(node: Node, together: DistributedContext) -> World:
    """Agrees with all nodes on the facts about the run: the first node looks for its free ports."""
    counts = together.allgather(node.processes)
    if together.rank == 0:
        torchs = _free_port(node.master_port, set())
        chiefs = _free_port(0, {torchs, node.master_port + _NODES_PORT_OFFSET})
        secret = os.environ.get("TRAINYARD_DISTRIBUTED_SECRET") or os.urandom(16).hex()
        agreed = together.broadcast((torchs, chiefs, secret))
    else:
        agreed = together.broadcast(None)
    return World(sum(counts), sum(counts[: node.rank]), node.master_addr, *agreed)


def _free_port(preferred: int, taken: set[int]) -> int:
    """Returns a port on which no process listens. It is below the range that the system assigns to clients, so
    that it stays free until it is used.
    """
    start = int.from_bytes(os.urandom(4), "big") % LAUNCH_PORTS
    others = ((start + n) % LAUNCH_PORTS + LAUNCH_PORT_FIRST for n in range(LAUNCH_PORTS))
    for port in (preferred, *others):
        if port == 0 or port in taken:
            continue
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as sock:
            # The option is the one that the port's user sets: closed connections then do not block the port.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("", port))
                return port
            except OSError:
                continue
    raise UsageError("no port is free on this host: end a program that listens on one")


def _run(options: Options, node: Node, world: World, nodes: Nodes) -> int:
    group = Group(nodes, node.run_dir, options.grace_s)
    guard = Guard() if node.run_dir is None else None
    # Handlers come before the first process: a signal must not leave processes behind.
    group.catch_signals()

    def ended(rank: RankProcess) -> None:
        if guard is not None:
            guard.forget(rank.pid)
        group.ended.put(rank)

    errors = Path(tempfile.mkdtemp(prefix="trainyard-ranks-"))
    try:
        for local_rank in range(node.processes):
            rank = world.first_rank + local_rank
            mark = {} if guard is None else guard.expect()
            env = {**os.environ, **_variables(node, world, local_rank), **mark}
            try:
                started = RankProcess(
                    rank, node.rank, options.command, env, errors / f"{rank}", ended
                )
            except OSError as error:
                _say(f"{options.command[0]} cannot be started: {error.strerror}")
                group.end()
                return 127
            group.add(started)
            if guard is not None:
                guard.add(started.pid)
                if started.code is not None:
                    guard.forget(started.pid)
        return group.wait()
    finally:
        shutil.rmtree(errors, ignore_errors=True)
        if guard is not None:
            guard.close()


def _variables(node: Node, world: World, local_rank: int) -> dict[str, str]:
    """The environment variables of one process, with torchrun's names."""
    rank = world.first_rank + local_rank
    variables: dict[str, object] = {
        "RANK": rank,
        "WORLD_SIZE": world.size,
        "LOCAL_RANK": local_rank,
        "LOCAL_WORLD_SIZE": node.processes,
        "GROUP_RANK": node.rank,
        "GROUP_WORLD_SIZE": node.nodes,
        "ROLE_RANK": rank,
        "ROLE_WORLD_SIZE": world.size,
        "ROLE_NAME": "default",
        "MASTER_ADDR": world.master_addr,
        "MASTER_PORT": world.master_port,
        "TORCHELASTIC_RUN_ID": node.run_id,
        "TORCHELASTIC_RESTART_COUNT": 0,
        "TORCHELASTIC_MAX_RESTARTS": 0,
        "TORCHELASTIC_USE_AGENT_STORE": False,
        "TRAINYARD_DISTRIBUTED_SECRET": world.secret,
    }
    if node.nodes > 1:
        variables["TRAINYARD_CHIEF_PORT"] = world.chief_port
    if world.size > 1 and "OMP_NUM_THREADS" not in os.environ:
        # The default is torchrun's: several processes with one thread per core each would compete for the cores.
        variables["OMP_NUM_THREADS"] = 1
    if "PYTHONUNBUFFERED" not in os.environ:
        variables["PYTHONUNBUFFERED"] = 1
    return {name: str(value) for name, value in variables.items()}


def _say(text: str) -> None:
    print(f"trainyard: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
