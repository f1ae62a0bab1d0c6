"""The launcher starts a process for each slot, and reports the first that fails, over all nodes."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import unittest
from contextlib import redirect_stderr
from unittest import mock

from ports import free_port
from test_context import SRC, ContextCase

from trainyard.launch import torch
from trainyard.launch._options import UsageError, parse

SCRIPT = """
import os, signal, sys, time, trainyard
together = trainyard.DistributedContext.from_torch_distributed()
rank, size = together.rank, together.size
"""

LAUNCHER = ("-m", "trainyard.launch.torch")


class LaunchCase(ContextCase):
    # A launch takes much less time on two busy cores.
    timeout_s = 360

    def setUp(self):
        super().setUp()
        self.script = self.folder / "train.py"

    def node(
        self,
        script,
        *options,
        node=0,
        nodes=1,
        slots=2,
        words=("train.py",),
        program=LAUNCHER,
        **env,
    ):
        self.script.write_text(SCRIPT + textwrap.dedent(script))
        self.run_dir = self.folder / f"run-{node}"
        self.run_dir.mkdir(exist_ok=True)
        env = {
            "TMPDIR": str(self.folder),
            "TRAINYARD_SLOT_IDS": ",".join(map(str, range(slots))),
            "TRAINYARD_NODE_RANK": str(node),
            "TRAINYARD_NNODES": str(nodes),
            # Launches do not use the default port: another launch may take it between the check and the use.
            "TRAINYARD_MASTER_PORT": str(free_port()),
            **env,
        }
        process = subprocess.Popen(
            [sys.executable, "-W", "error", *program, *options, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(SRC), **self.platform.env(self.run_dir, **env)},
        )
        for end in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(end)
        return process

    def launch(self, script, *options, code=0, **more):
        return self.finish(self.node(script, *options, **more), code)

    def finish(self, process, code=0):
        out, err = process.communicate(timeout=self.timeout_s)
        self.assertEqual(process.returncode, code, out + err)
        return sorted(out.splitlines()), err

    def nodes(self, script, codes, slots=2):
        """Launches on two nodes, and returns the stderr of each."""
        port = str(free_port())
        processes = [
            self.node(script, node=n, nodes=2, slots=slots, TRAINYARD_MASTER_PORT=port)
            for n in (0, 1)
        ]
        told = [self.finish(process, code) for process, code in zip(processes, codes)]
        ends = []
        for n in (0, 1):
            path = self.folder / f"run-{n}" / "end.json"
            ends.append(json.loads(path.read_text()) if path.exists() else None)
        return told, ends


WHO = """
    names = "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE GROUP_RANK GROUP_WORLD_SIZE".split()
    print(*(os.environ[name] for name in names), *sys.argv[1:])
    ports = together.allgather((os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]))
    assert len(set(ports)) == 1, ports
"""


class Starting(LaunchCase):
    def test_each_slot_gets_a_process(self):
        for slots, want in ((0, ["0 1"]), (1, ["0 1"]), (3, ["0 3", "1 3", "2 3"])):
            out, err = self.launch(WHO, slots=slots, words=("train.py", "--lr", "1"))
            size = max(1, slots)
            lines = [f"[rank={w[0]}] {w} {w[0]} {size} 0 1 --lr 1" for w in want]
            self.assertEqual(out, lines, err)

    def test_nodes_with_different_numbers_of_slots_form_one_run(self):
        port = str(free_port())
        many = self.node(WHO, node=0, nodes=2, slots=2, TRAINYARD_MASTER_PORT=port)
        one = self.node(WHO, node=1, nodes=2, slots=1, TRAINYARD_MASTER_PORT=port)
        self.assertEqual(self.finish(one)[0], ["[rank=2] 2 3 0 1 1 2"])
        lines = ["[rank=0] 0 3 0 2 0 2", "[rank=1] 1 3 1 2 0 2"]
        self.assertEqual(self.finish(many)[0], lines)

    def test_a_command_may_be_a_script_a_module_or_a_program(self):
        for words in (
            ("train.py", "a"),
            ("--", "train.py", "a"),
            ("-m", "train", "a"),
            ("--nnodes=1", "--nproc_per_node", "1", "--", sys.executable, "train.py", "a"),
            ("--rdzv_backend", "c10d", "--standalone", "train.py", "a"),
        ):
            out, _ = self.launch("print(sys.argv[1:])", slots=1, words=words)
            self.assertEqual(out, ["[rank=0] ['a']"], words)

    def test_the_launcher_starts_the_processes_outside_of_a_task(self):
        out, _ = self.launch(WHO, "--nproc-per-node=2", TRAINYARD_TRIAL_ID="", TRAINYARD_TOKEN="")
        self.assertEqual(len(out), 2)

    def test_a_rendezvous_port_that_is_in_use_is_replaced(self):
        with socket.socket() as sock:
            sock.bind(("", 0))
            sock.listen()
            port = str(sock.getsockname()[1])
            out, _ = self.launch(
                "print(os.environ['MASTER_PORT'])", slots=1, TRAINYARD_MASTER_PORT=port
            )
        self.assertNotEqual(out, [f"[rank=0] {port}"])

    def test_a_launchers_port_that_is_in_use_is_named_in_the_error(self):
        with socket.socket() as sock:
            sock.bind(("", 0))
            sock.listen()
            port = sock.getsockname()[1]
            env = {"TRAINYARD_MASTER_PORT": str(port - 1)}
            _, err = self.launch("", code=2, nodes=2, **env)
        self.assertIn(f"port {port} of this host, where the launchers of the run meet", err)

    def test_a_rank_without_distributed_logs_one_warning(self):
        _, err = self.launch("with trainyard.init(): pass")
        self.assertEqual(err.count("has no distributed="), 1, err)

    def test_a_command_that_cannot_be_started_is_an_error(self):
        _, err = self.launch("", code=127, words=("no-such-command",))
        self.assertIn("no-such-command cannot be started: No such file", err)
        _, err = self.launch("", code=2, words=())
        self.assertIn("name a script", err)


class Options(unittest.TestCase):
    def test_an_invalid_option_is_refused_with_its_correction(self):
        for words, said in (
            (["--trial", "model:Trial"], "Trainer"),
            (["--batch-size", "4", "train.py"], "put options of the script after its name"),
            (["--nproc_per_node"], "needs a value"),
            (["--nproc_per_node=x", "train.py"], "must be a whole number, not 'x'"),
            (["--nproc_per_node=0", "train.py"], "must be 1 or more"),
            (["-m"], "name of a module"),
            ([], "the command is missing"),
        ):
            with self.assertRaisesRegex(UsageError, said, msg=words):
                parse(words, 1.0)

    def test_options_of_torchrun_are_accepted(self):
        options = parse(
            [
                "--nnodes",
                "1:2",
                "--node_rank=1",
                "--rdzv_endpoint=a:7",
                "--max_restarts",
                "0",
                "-r",
                "3",
                "--",
                "t.py",
                "-x",
            ],
            1.0,
        )
        self.assertEqual((options.nnodes, options.node_rank), (2, 1))
        self.assertEqual((options.master_addr, options.master_port), ("a", 7))
        self.assertEqual(options.without_effect, ["--max-restarts", "--redirects"])
        self.assertEqual(options.command[1:], ["t.py", "-x"])

    def test_node_options_that_contradict_each_other_are_refused(self):
        with self.assertRaisesRegex(UsageError, "--nnodes of at least 4"):
            torch.node_of(parse(["--node-rank=3", "t.py"], 1.0), {})
        with self.assertRaisesRegex(UsageError, "--master-port"):
            torch.node_of(parse(["--nnodes=2", "t.py"], 1.0), {})
        with redirect_stderr(io.StringIO()) as err, mock.patch.dict(os.environ, clear=True):
            self.assertEqual(torch.main(["--nnodes=2", "--master-port=1", "t.py"]), 1)
        self.assertIn("TRAINYARD_DISTRIBUTED_SECRET", err.getvalue())


DYING = """
    with trainyard.init(distributed=together) as ctx:
        together.barrier()
        if rank == size - 1:
            {}
        while True:
            together.barrier()
"""
RAISE = 'raise ValueError("boom")'
KILL = "os.kill(os.getpid(), signal.SIGKILL)"
LEAVE = "os._exit(0)"


class Dying(LaunchCase):
    def assert_first(self, err, headline):
        said = [line for line in err.splitlines() if line.startswith("trainyard: ")]
        self.assertRegex(said[0], f"^trainyard: {headline}")
        self.assertRegex(said[-1], f"^trainyard: the run ended because of {headline}")

    def test_an_exception_of_a_rank_is_the_runs_error_with_its_traceback(self):
        _, err = self.launch(DYING.format(RAISE), code=1, slots=3)
        self.assert_first(err, r"rank 2: ValueError: boom \(train.py, line 9\)")
        self.assertIn('    File "', err)
        end = self.end()
        self.assertEqual(end["reason"], "END_REASON_ERROR")
        head, _, rest = end["message"].partition("\n\n")
        self.assertEqual(head, "rank 2: ValueError: boom (train.py, line 9)")
        self.assertRegex(rest, r"^Traceback(.|\n)*ValueError: boom$")

    def test_a_killed_rank_is_the_runs_error(self):
        _, err = self.launch(DYING.format(KILL), code=137, slots=3)
        self.assert_first(err, "rank 2: was ended by SIGKILL")
        self.assert_end("ERROR", "^rank 2: was ended by SIGKILL")

    def test_a_rank_that_exits_early_with_code_0_is_named_in_the_runs_error(self):
        _, err = self.launch(DYING.format(LEAVE), code=1, slots=3)
        said = (
            "rank 2 exited with code 0 while others were still at work; then rank [01]: .*Distrib"
        )
        self.assert_first(err, said)
        self.assert_end("ERROR", said)

    def test_ranks_that_hang_are_killed_after_another_rank_failed(self):
        script = """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            together.barrier()
            if rank == 1:
                sys.exit("no data")
            while True:
                signal.pause()
            """
        _, err = self.launch(script, "--grace=1", code=1)
        self.assert_first(err, "rank 1: exited with code 1: no data")
        self.assertIn("rank 0 was ended because of that", err)

    def test_an_exception_in_a_script_without_the_sdk_is_the_runs_error(self):
        script = """
            if rank == 1:
                try:
                    {}["key"]
                except KeyError as error:
                    raise RuntimeError("no key") from error
            signal.pause()
            """
        self.launch(script, code=1)
        self.assert_end(
            "ERROR", r"^rank 1: RuntimeError: no key \(train.py, line 10\)\n\nTraceback"
        )

    def test_the_launchers_of_two_nodes_report_the_same_first_failure(self):
        for how, said, code in (
            (RAISE, r"^rank 3: ValueError: boom", 1),
            (KILL, "^rank 3: was ended by SIGKILL", 137),
            (LEAVE, "^rank 3 exited with code 0 while .* then rank [012]: .*DistributedError", 1),
        ):
            for n in (0, 1):
                (self.folder / f"run-{n}" / "end.json").unlink(missing_ok=True)
            told, ends = self.nodes(DYING.format(how), [code, code])
            for (_, err), end in zip(told, ends):
                self.assert_first(err, said[1:])
                self.assertRegex(end["message"], said)

    def test_a_launcher_ends_its_ranks_when_another_nodes_launcher_is_lost(self):
        port = str(free_port())
        # The rank of the killed launcher is not stopped, because this test has no agent.
        script = 'print("up", flush=True)\nsignal.alarm(240)\nsignal.pause()'
        first, second = [
            self.node(script, node=n, nodes=2, slots=1, TRAINYARD_MASTER_PORT=port) for n in (0, 1)
        ]
        for process in (first, second):
            if "up" not in process.stdout.readline():
                self.fail(process.communicate()[1])
        second.send_signal(signal.SIGKILL)
        _, err = self.finish(first, 1)
        self.assert_first(err, r"another node of the run is gone \(node 1 has ended")

    def test_invalid_hyperparameters_remain_the_reason_after_exit_code_1(self):
        script = DYING.format(
            "ctx.train.report_early_exit(trainyard.EarlyExitReason.INVALID_HP); sys.exit(1)"
        )
        self.launch(script, code=1)
        self.assert_end("INVALID_HYPERPARAMETERS")

    def test_a_run_on_two_nodes_without_failures_ends_as_finished(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                together.barrier()
            """
        _, ends = self.nodes(script, [0, 0])
        self.assertEqual([end and end["reason"] for end in ends], ["END_REASON_FINISHED", None])


class Signalled(LaunchCase):
    def test_sigterm_outside_of_a_task_is_forwarded_to_the_ranks(self):
        script = """
            def leave(number, frame):
                print("leaving", flush=True)
                sys.exit(0)
            signal.signal(signal.SIGTERM, leave)
            print("up", flush=True)
            while True:
                signal.pause()
            """
        process = self.node(script, "--nproc-per-node=2", TRAINYARD_TRIAL_ID="", TRAINYARD_TOKEN="")
        for _ in range(2):
            self.assertIn("up", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        out, _ = self.finish(process)
        self.assertEqual(out, ["[rank=0] leaving", "[rank=1] leaving"])

    def test_sigterm_inside_a_task_is_not_forwarded_to_the_ranks(self):
        script = """
            print("up", flush=True)
            signal.pause()
            """
        process = self.node(script, "--grace=1")
        for _ in range(2):
            self.assertIn("up", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        self.finish(process, 143)
        # An end by a signal is not an error of the script.
        self.assertFalse((self.run_dir / "end.json").exists())

    def test_a_signal_is_obeyed_when_its_handler_outlasts_the_wait_that_it_interrupts(self):
        launcher = """
            import sys, time
            from trainyard.launch import _group, torch
            handle = _group.Group._on_signal
            def slowly(self, number, frame):
                handle(self, number, frame)
                time.sleep(3 * _group.LAUNCH_LOOK_S)
            _group.Group._on_signal = slowly
            sys.exit(torch.main(sys.argv[1:]))
            """
        script = 'print("up", flush=True)\nsignal.alarm(20)\nsignal.pause()'
        program = ("-c", textwrap.dedent(launcher))
        process = self.node(script, "--grace=1", slots=1, program=program)
        self.assertIn("up", process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        self.finish(process, 143)


if __name__ == "__main__":
    unittest.main()
