"""The holder of a task: the first process of its run. It runs the task's command, or serves the terminals of a shell,
and stays until that has ended. It survives agent and gateway, and its clients come and go. The protocol is in
docs/integrate/terminals.md.

Started as `python3 -I -S -E holder.py KIND WORK_DIR [COMMAND...]` in the folder of the task's files, with
TRAINYARD_RUN_DIR. WORK_DIR is relative to that folder, and empty for it:

  command   starts COMMAND with its own output, which is the run's, and ends as it ends
  shell     ends as the terminal "main" ends, which the first viewer opens

It listens on holder.sock in TRAINYARD_RUN_DIR, for its own user alone. It adopts what in the task loses its parent (a
subreaper). SIGTERM asks the task to end: clients get a notice, and the task's programs the signal. Processes that they
leave get it when the command has ended, and the task ends with its last process, as parent.py does it for other runs.
Without a request, the holder ends with its command, and the run's parent or container kills what the command leaves.

Only the standard library, and nothing newer than Python 3.7: it runs under what an image has.
"""

import errno
import os
import re
import resource
import select
import signal
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import frames  # noqa: E402 -- its folder is put on the path first
import packages  # noqa: E402 -- its folder is put on the path first
import parent  # noqa: E402 -- its folder is put on the path first
from connection import Connection  # noqa: E402 -- its folder is put on the path first
from execution import Execution  # noqa: E402 -- its folder is put on the path first
from loop import READ, Loop  # noqa: E402 -- its folder is put on the path first
from spawning import (  # noqa: E402 -- its folder is put on the path first
    Program,
    end_of,
    login_shell,
    size_in,
    spawn,
)
from terminal import Terminal  # noqa: E402 -- its folder is put on the path first
from use import Use, UseReader  # noqa: E402 -- its folder is put on the path first
from viewer import Follower, Viewer, Watcher  # noqa: E402 -- its folder is put on the path first

SOCKET = "holder.sock"
CONNECTIONS_MAX = 64
TERMINALS_MAX = 16
# While the task is asked to end, shells that have got their prompt back are ended, and adopted processes are asked.
LOOK_S = 0.2
# Clients get so long to read the last frames.
FAREWELL_S = 1.0
NOT_FOUND, NOT_EXECUTABLE = 127, 126
STOP_TEXT = "a stop of this task was requested: its processes get SIGTERM"
MAIN = "main"
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
PASSED_ON = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


class Refused(Exception):
    def __init__(self, code, detail):
        super().__init__(detail)
        self.code = code


class Holder:
    def __init__(self, kind, command, run_folder):
        self.loop = Loop()
        self.kind = kind
        self.command = command
        self.run_folder = run_folder
        self.folder = os.getcwd()
        self.environment = dict(os.environ)
        self.connections = set()
        self.terminals = {}
        self.use = Use()
        # The functions that are called at the end of each child, by pid.
        self.children = {}
        self.command_pid = None
        # The end of the command or of the main terminal, as waitpid has it.
        self.end = None
        self.is_stopping = False
        self.asked = set()
        self.untold = b""

    def run(self):
        """Returns how the task ended, as waitpid has it."""
        parent.adopt()
        self.loop.on_signal(signal.SIGCHLD, lambda _: self.reap())
        self.loop.on_signal(signal.SIGTERM, lambda _: self.stop())
        for number in PASSED_ON:
            self.loop.on_signal(number, self.pass_on)
        self.listen()
        if self.command:
            self.start_command()
        while not self.is_over():
            self.loop.turn(LOOK_S if self.is_stopping else 3600.0)
            if self.is_stopping:
                self.ask_rest()
        self.say_farewell()
        return self.end

    def is_over(self):
        if not self.is_stopping:
            return self.end is not None
        if self.children or has_children():
            return False
        if self.end is None:
            self.end = signal.SIGTERM  # A shell that nobody has opened.
        return True

    def listen(self):
        """The path of the run's folder may be longer than an address may be, so the folder is entered for it."""
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            os.chdir(self.run_folder)
            if os.path.lexists(SOCKET):
                os.unlink(SOCKET)
            self.server.bind(SOCKET)
            self.server.listen(CONNECTIONS_MAX)
        finally:
            os.chdir(self.folder)
            os.umask(before)
        self.server.setblocking(False)
        self.loop.watch(self.server.fileno(), READ, self.accept)

    def start_command(self):
        nothing = os.open(os.devnull, os.O_RDONLY)
        program = Program(self.command, self.environment, self.folder)
        try:
            self.command_pid = spawn(program, (nothing, 1, 2))
        except OSError as problem:
            tell_start_problem(self.command[0], problem)
            self.end = (NOT_FOUND if problem.errno == errno.ENOENT else NOT_EXECUTABLE) << 8
            return
        finally:
            os.close(nothing)
        self.children[self.command_pid] = self.command_ended

    def command_ended(self, status):
        self.command_pid = None
        self.end = status

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            ended = self.children.pop(pid, None)
            if ended is not None:
                ended(status)

    def accept(self, _):
        try:
            client, _ = self.server.accept()
        except OSError:
            return  # The client has gone, or this process may open no more.
        connection = Connection(self.loop, client, self.hear_hello, self.connections.discard)
        self.connections.add(connection)
        if len(self.connections) > CONNECTIONS_MAX:
            connection.refuse("too_many", "the task has %d connections already" % CONNECTIONS_MAX)

    def hear_hello(self, connection, hello):
        opened = hello.get("open")
        try:
            if opened == "terminal":
                self.open_terminal(connection, hello)
            elif opened == "exec":
                self.execute(connection, hello)
            elif opened == "follow":
                name = hello.get("name")
                terminal = self.terminals.get(name) if isinstance(name, str) else None
                if terminal is None:
                    raise Refused("no_terminal", "the task has no terminal of this name")
                connection.begin(Follower(connection, terminal, terminal.record.size))
            elif opened == "watch":
                connection.begin(Watcher(connection, lambda: sorted(self.terminals)))
            elif opened == "use":
                connection.begin(UseReader(self.use))
            else:
                raise frames.BadFrame("the first frame says nothing known to open")
        except Refused as refused:
            connection.refuse(refused.code, str(refused))

    def open_terminal(self, connection, hello):
        name = hello.get("name", MAIN)
        if not isinstance(name, str) or not NAME.match(name):
            raise frames.BadFrame(
                "a terminal's name has 1 to 64 letters, digits, dots, dashes and underscores"
            )
        size = size_in(hello)
        terminal = self.terminals.get(name)
        if terminal is None:
            terminal = self.make_terminal(name, size, hello)
        connection.begin(Viewer(connection, terminal, size))

    def make_terminal(self, name, size, hello):
        self.refuse_while_ending()
        if len(self.terminals) >= TERMINALS_MAX:
            raise Refused("too_many", "the task has %d terminals already" % TERMINALS_MAX)
        terminal = Terminal(self.loop, name, size, self.use, self.terminal_over)
        start_or_refuse(lambda program: terminal.start(program), self.program_of(hello))
        self.terminals[name] = terminal
        self.children[terminal.pid] = lambda status: self.terminal_ended(terminal, status)
        self.tell_watchers()
        return terminal

    def terminal_ended(self, terminal, status):
        terminal.ended(status)
        if self.kind == "shell" and terminal.name == MAIN:
            # The rest of its output is read before the task is over.
            terminal.give_up_rest()
            self.end = status
            if self.is_stopping and os.WIFSIGNALED(status):
                self.end = signal.SIGTERM

    def terminal_over(self, terminal):
        if self.terminals.get(terminal.name) is terminal:
            del self.terminals[terminal.name]
            self.tell_watchers()

    def tell_watchers(self):
        for connection in list(self.connections):
            if isinstance(connection.role, Watcher):
                connection.pump()

    def execute(self, connection, hello):
        self.refuse_while_ending()
        if not is_command(hello.get("command")):
            raise frames.BadFrame("a program is a list of one or more texts")
        size = size_in(hello) if hello.get("terminal") is True else None
        execution = start_or_refuse(
            lambda program: Execution(self.loop, connection, program, size, self.use),
            self.program_of(hello),
        )
        self.children[execution.pid] = execution.ended
        connection.begin(execution)

    def program_of(self, hello):
        environment = dict(self.environment)
        more = hello.get("environment", {})
        if not isinstance(more, dict) or not all(is_text(one) for one in (*more, *more.values())):
            raise frames.BadFrame("the environment is an object of texts")
        environment.update(more)
        folder = hello.get("directory", "")
        if not is_text(folder):
            raise frames.BadFrame("the directory is a text")
        directory = os.path.join(self.folder, folder)
        command = hello.get("command")
        if command is None:
            return login_shell(environment, directory)
        if not is_command(command):
            raise frames.BadFrame("a program is a list of one or more texts")
        return Program(command, environment, directory)

    def refuse_while_ending(self):
        if self.is_stopping or self.end is not None:
            raise Refused("ending", "the task is ending")

    def pass_on(self, number):
        if self.command_pid is not None:
            parent.send(self.command_pid, number)

    def stop(self):
        """Asks the task to end, once: programs take a second signal as "at once"."""
        if self.is_stopping:
            return
        self.is_stopping = True
        self.untold = (STOP_TEXT + "\n").encode("ascii")
        self.tell_log()
        notice = frames.text_frame(frames.NOTICE, STOP_TEXT)
        for connection in list(self.connections):
            if connection.role is not None:
                connection.say(notice)
        shells = {terminal.pid for terminal in self.terminals.values()}
        for pid in list(self.children):
            self.asked.add(pid)
            if pid not in shells:
                parent.send(pid, signal.SIGTERM)
        self.ask_terminals()

    def ask_rest(self):
        self.tell_log()
        self.ask_terminals()
        if self.command_pid is None:
            parent.ask_children(self.asked)

    def ask_terminals(self):
        for terminal in list(self.terminals.values()):
            terminal.hang_up()

    def tell_log(self):
        """The run's pipe may be full, and its other writers do not expect one that does not block."""
        if self.untold and select.select((), (2,), (), 0)[1]:
            os.write(2, self.untold)
            self.untold = b""

    def say_farewell(self):
        """Clients that read get the rest of what their programs and terminals have written."""
        how = "the task has ended: %s" % describe(self.end)
        for connection in list(self.connections):
            connection.pump()
            if connection.role is None or not connection.role.is_ending():
                connection.say(frames.text_frame(frames.NOTICE, how))
                connection.close_when_sent()
        until = time.monotonic() + FAREWELL_S
        while self.is_heard() and time.monotonic() < until:
            self.loop.turn(until - time.monotonic())
        try:
            os.unlink(os.path.join(self.run_folder, SOCKET))
        except OSError:
            pass  # The run's own processes may have removed it.

    def is_heard(self):
        return any(not connection.is_lingering for connection in self.connections)


def start_or_refuse(start, program):
    try:
        return start(program)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise Refused("cannot_start", "%s cannot be started: %s" % (program.file, why)) from None


def is_text(value):
    return isinstance(value, str) and "\0" not in value


def is_command(value):
    return isinstance(value, list) and bool(value) and all(is_text(part) for part in value)


def has_children():
    try:
        return bool(parent.children_by_parent().get(os.getpid()))
    except OSError:
        return False


def describe(status):
    end = end_of(status)
    return "exit code %d" % end["code"] if "code" in end else end["signal"]


def tell_start_problem(program, problem):
    if problem.errno == errno.ENOENT:
        text = "the entrypoint's program %s was not found: name one that is on its PATH" % program
    elif problem.errno == errno.EACCES:
        text = "the entrypoint's program %s may not be run: is it executable?" % program
    else:
        text = "the entrypoint could not be started: %s" % problem.strerror
    os.write(2, (text + "\n").encode("utf-8", "replace"))


def end_as(status):
    """Ends this process as the command has ended, so that the run's record says the same. Does not return."""
    if not os.WIFSIGNALED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    # The core of the program that failed is written already.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    time.sleep(1)
    os._exit(128 + number)


def enter(work_dir):
    """Programs read their folder in PWD too."""
    try:
        os.chdir(work_dir or ".")
    except OSError as problem:
        text = "the task's work_dir %s cannot be entered: %s\n" % (work_dir, problem.strerror)
        os.write(2, text.encode("utf-8", "replace"))
        os._exit(NOT_EXECUTABLE)
    if work_dir:
        os.environ["PWD"] = os.getcwd()


def main():
    kind, work_dir, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    enter(work_dir)
    os.write(2, (packages.prepare(os.environ) or "").encode("utf-8", "replace"))
    end_as(Holder(kind, command, os.environ["TRAINYARD_RUN_DIR"]).run())


if __name__ == "__main__":
    main()
