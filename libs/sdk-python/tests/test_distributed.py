"""The processes of one run exchange values, and notice the loss of a process."""

from __future__ import annotations

import os
import signal
import socket
import textwrap
import unittest
from unittest import mock

from fake_platform import wait_until
from ports import free_port
from test_context import ContextCase

import trainyard
from trainyard._distributed import _join, _rendezvous
from trainyard._distributed._collectives import Collectives
from trainyard._distributed._topology import Topology
from trainyard._distributed._wire import Link

PREAMBLE = """
import os, signal, sys, trainyard
together = trainyard.DistributedContext.from_torch_distributed()
rank = together.rank
"""


def links():
    """Yields both ends of a connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    return Link(near), Link(far)


class DistributedCase(ContextCase):
    def launch(self, script, size=3, hosts=1, **env):
        """Starts a process for each rank; each host has a separate run folder."""
        port, per_host = str(free_port()), size // hosts
        env = {"TMPDIR": str(self.folder), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **env}
        if hosts > 1:
            env.setdefault("TRAINYARD_CHIEF_PORT", str(free_port()))
        processes = []
        for rank in range(size):
            host, local = divmod(rank, per_host)
            self.run_dir = self.folder / f"run-{host}"
            of_rank = {"RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": local}
            of_rank.update(LOCAL_WORLD_SIZE=per_host, GROUP_RANK=host, GROUP_WORLD_SIZE=hosts)
            of_rank.update(TRAINYARD_NODE_RANK=host, TRAINYARD_NNODES=hosts)
            named = {name: str(value) for name, value in of_rank.items()}
            processes.append(self.start(PREAMBLE + textwrap.dedent(script), **env, **named))
        self.run_dir = self.folder / "run-0"
        return processes

    def finish(self, processes, codes=None):
        """Returns each rank's output. ``codes`` are the expected exit codes, None for any."""
        told = [process.communicate(timeout=240) for process in processes]
        for n, process in enumerate(processes):
            wanted = codes[n] if codes is not None else 0
            if wanted is not None:
                self.assertEqual(process.returncode, wanted, told[n][1])
        return [out for out, _ in told], [err for _, err in told]

    def together(self, script, codes=None, **more):
        return self.finish(self.launch(script, **more), codes)


EXCHANGE = """
    local, hosts = together.local_size, together.cross_size
    assert together.gather(rank) == (list(range(together.size)) if rank == 0 else None)
    assert together.allgather({"rank": rank})[rank] == {"rank": rank}
    assert together.broadcast(f"from {rank}") == "from 0"
    first = together.cross_rank * local
    assert together.allgather_local(rank) == list(range(first, first + local))
    assert together.broadcast_local(rank) == first
    mine = together.gather_local(rank)
    assert (mine is None) == (together.local_rank != 0), mine
    large = os.urandom(3_000_000)
    assert len(set(together.allgather(large))) == together.size
    assert len(together.broadcast(large)) == len(large)
    together.barrier()
    together.close()
    together.close()
    try:
        together.barrier()
    except trainyard.DistributedError as error:
        print(error)
"""


class Exchange(DistributedCase):
    def test_ranks_of_one_host_exchange_objects(self):
        out, _ = self.together(EXCHANGE, size=3)
        self.assertTrue(all("the context is closed" in text for text in out), out)
        # No files are left that could mislead a later run.
        self.assertEqual([f.name for f in self.folder.glob("trainyard-*/*.chief")], [])

    def test_ranks_of_two_hosts_exchange_objects(self):
        self.together(EXCHANGE, size=4, hosts=2)

    def test_ranks_outside_of_a_task_exchange_objects(self):
        self.together(EXCHANGE, size=2, TRAINYARD_TRIAL_ID="", TRAINYARD_TOKEN="")

    def test_a_single_process_exchanges_objects_with_itself(self):
        alone = trainyard.DistributedContext(
            rank=0, size=1, local_rank=0, local_size=1, cross_rank=0, cross_size=1
        )
        self.assertEqual(alone.gather(1), [1])
        self.assertEqual(alone.allgather_local(1), [1])
        self.assertEqual(alone.broadcast("x"), "x")
        alone.barrier()
        alone.close()

    def test_contexts_can_be_opened_one_after_the_other(self):
        script = """
            for n in range(3):
                assert together.allgather(n) == [n] * together.size
                together.close()
                together = trainyard.DistributedContext.from_torch_distributed()
            """
        self.together(script)

    def test_a_forked_child_cannot_use_its_parents_context(self):
        script = """
            pid = os.fork()
            if pid == 0:
                try:
                    together.barrier()
                except trainyard.DistributedError as error:
                    assert "forked" in str(error)
                    os._exit(7)
                os._exit(1)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
            assert together.allgather(rank) == [0, 1]
            """
        self.together(script, size=2)


LOST = """
    try:
        for n in range(1_000_000):
            if rank == 1 and n == 3:
                {}
            together.allgather(n)
    except trainyard.DistributedError as error:
        print(n, error, flush=True)
"""


class Lost(DistributedCase):
    def test_a_rank_that_ends_is_named_in_the_other_ranks_errors(self):
        for how in (
            "os.kill(os.getpid(), signal.SIGKILL)",
            "os._exit(0)",
            "together.close(); break",
        ):
            for hosts in (1, 2):
                with self.subTest(how, hosts=hosts):
                    out, _ = self.together(LOST.format(how), [0, None, 0, 0], size=4, hosts=hosts)
                    for rank in (0, 2, 3):
                        self.assertRegex(out[rank], "^3 rank 1 has ended or left the context")

    def test_a_chief_that_ends_early_is_named_in_the_other_ranks_errors(self):
        out, _ = self.together(
            LOST.format("pass").replace("rank == 1", "rank == 0").replace("pass", "os._exit(9)"),
            [9, 0, 0],
        )
        for text in out[1:]:
            self.assertRegex(text, "^3 rank 0 has ended")

    def test_a_rank_may_leave_after_its_value_was_gathered(self):
        for awaited in (False, True):
            (hub_to_1, one), (hub_to_2, two) = links(), links()
            first, second = Collectives(1, [0, 1, 2], {0: one}), Collectives(2, [0, 1, 2], {0: two})
            steps = [lambda: first.gather("one"), first.close, lambda: second.gather("two")]

            class Stepwise(Collectives):
                def _ready(self, timeout):
                    steps.pop(0)()
                    return super()._ready(timeout)

            hub = Stepwise(0, [0, 1, 2], {1: hub_to_1, 2: hub_to_2})
            if awaited:
                with self.assertRaisesRegex(trainyard.DistributedError, "rank 1 has ended"):
                    hub.gather("hub", awaited=True)
            else:
                self.assertEqual(hub.gather("hub"), ["hub", "one", "two"])
            for star in (hub, first, second):
                star.close()

    def test_the_end_of_a_hanging_rank_ends_the_wait_of_the_others(self):
        script = """
            print(os.getpid(), flush=True)
            if rank == 1:
                signal.pause()
            together.barrier()
            """
        processes = self.launch(script)
        pids = [int(process.stdout.readline()) for process in processes]
        self.assertEqual([process.poll() for process in processes], [None, None, None])
        os.kill(pids[1], signal.SIGKILL)
        _, err = self.finish(processes, [1, -signal.SIGKILL, 1])
        for rank in (0, 2):
            self.assertIn("DistributedError: rank 1 has ended", err[rank])

    def test_calls_that_differ_between_ranks_raise(self):
        script = """
            together.barrier()
            if rank == 1:
                together.gather(1)
                together.gather(1)
            else:
                together.gather(1)
                together.broadcast(1)
            together.barrier()
            """
        _, err = self.together(script, [1, 1, 1])
        for rank in (0, 2):
            self.assertIn("make the same calls on every rank", err[rank])


def place(rank, size=2):
    return Topology(rank, size, rank, size, 0, 1)


class Joining(DistributedCase):
    def rendezvous(self, **env):
        env = {"TMPDIR": str(self.folder), "MASTER_PORT": "1", **env}
        return _rendezvous.rendezvous_of(env, 1, None, None)

    def test_a_rank_that_does_not_join_is_named_in_the_error(self):
        with mock.patch.object(_join, "JOIN_S", 0.2):
            with self.assertRaisesRegex(trainyard.DistributedError, "^ranks 1, 2 did not join"):
                _join.join(place(0, 3), self.rendezvous())
            with self.assertRaisesRegex(trainyard.DistributedError, "^rank 1 could not join"):
                _join.join(place(1), self.rendezvous())

    def test_connections_without_the_runs_secret_are_refused(self):
        with mock.patch.object(_join, "JOIN_S", 3.0), mock.patch.object(_join, "HANDSHAKE_S", 0.2):
            rendezvous = self.rendezvous()
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    _join.join(place(0), rendezvous)
                    code = 0
                finally:
                    os._exit(code)
            wait_until(lambda: rendezvous.known_port() is not None)
            with socket.create_connection(("127.0.0.1", rendezvous.known_port())) as stranger:
                stranger.sendall(os.urandom(64))
                with mock.patch.object(_join, "JOIN_S", 0.2):
                    with self.assertRaisesRegex(trainyard.DistributedError, "secret"):
                        _join.join(place(1), rendezvous._replace(secret=b"another"))
            star, _ = _join.join(place(1), rendezvous)
            star.close()
            self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_two_processes_with_the_same_rank_raise(self):
        script = "import trainyard\nprint(trainyard.DistributedContext({}))\n"
        given = "rank={0}, size=3, local_rank={0}, local_size=3, cross_rank=0, cross_size=1"
        env = {"TMPDIR": str(self.folder), "MASTER_PORT": "2"}
        processes = [self.start(script.format(given.format(r)), **env) for r in (0, 1, 1)]
        _, err = self.finish(processes, [1, 1, 1])
        for text in err:
            self.assertIn("two processes joined as rank 1", text)

    def test_ranks_with_different_sizes_raise(self):
        script = "import trainyard\nprint(trainyard.DistributedContext({}))\n"
        given = "rank={0}, size={1}, local_rank={0}, local_size={1}, cross_rank=0, cross_size=1"
        env = {"TMPDIR": str(self.folder), "MASTER_PORT": "3"}
        processes = [self.start(script.format(given.format(r, 2 + r)), **env) for r in (0, 1)]
        _, err = self.finish(processes, [1, 1])
        for text in err:
            self.assertIn("the same size= and cross_size= on every rank", text)

    def test_an_impossible_rank_or_size_raises(self):
        fields = {"rank": 0, "size": 1, "local_rank": 0, "local_size": 1}
        fields.update(cross_rank=0, cross_size=1)
        for wrong in ({"rank": 1}, {"local_rank": -1}, {"size": 0}, {"local_size": 2}):
            with self.assertRaises(ValueError, msg=wrong):
                trainyard.DistributedContext(**{**fields, **wrong})
        with self.assertRaises(TypeError):
            trainyard.DistributedContext(**{**fields, "rank": "0"})

    def test_a_script_with_its_own_launcher_joins_in_a_task(self):
        script = """
        place = dict(rank=rank, size=2, local_rank=rank, local_size=2, cross_rank=0, cross_size=1)
        alone = trainyard.DistributedContext(chief_ip="127.0.0.1", **place)
        with trainyard.init(distributed=alone) as ctx:
            print(ctx.distributed.allgather(rank))
        """
        script = textwrap.dedent(script)
        processes = [
            self.start(f"import trainyard; rank = {rank}\n{script}", MASTER_PORT="")
            for rank in range(2)
        ]
        out, _ = self.finish(processes, [0, 0])
        self.assertEqual([text.strip() for text in out], ["[0, 1]", "[0, 1]"])
        self.assertFalse((self.run_dir / "chief.port").exists())

    def test_an_incomplete_environment_raises_and_names_the_variable(self):
        with mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(trainyard.DistributedError, "LOCAL_WORLD_SIZE"):
                trainyard.DistributedContext.from_torch_distributed()
        with self.assertRaisesRegex(trainyard.DistributedError, "chief_port="):
            _rendezvous.rendezvous_of({}, 1, None, None)
        with self.assertRaisesRegex(trainyard.DistributedError, "TRAINYARD_DISTRIBUTED_SECRET"):
            _rendezvous.rendezvous_of({"MASTER_PORT": "1"}, 2, None, None)


if __name__ == "__main__":
    unittest.main()
