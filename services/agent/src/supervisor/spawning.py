"""Starts the programs of a task: its command, terminals, and what clients execute."""

import fcntl
import os
import shutil
import signal
import struct
import termios

DEFAULT_TERM = "xterm-256color"
COLUMNS_MAX, ROWS_MAX = 1000, 500
# Accounts of services have these in place of a shell.
NO_SHELLS = ("nologin", "false")


class Program:
    """A program to start: `file` is found on the PATH, and `arguments[0]` is the name that it is called by."""

    def __init__(self, arguments, environment, directory, file=None):
        self.file = file or arguments[0]
        self.arguments = arguments
        self.environment = environment
        self.directory = directory


def login_shell(environment, directory):
    for name in (environment.get("SHELL"), "bash", "sh"):
        path = shutil.which(name, path=environment.get("PATH")) if name else None
        if path and os.path.basename(path) not in NO_SHELLS:
            return Program(["-" + os.path.basename(path)], environment, directory, path)
    return Program(["-sh"], environment, directory, "sh")


def spawn(program, streams, is_terminal=False):
    """Starts the program as the leader of a new session, with three descriptors as its standard streams, and returns
    its pid. Raises OSError with the error of chdir or exec.
    """
    said, told = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(said)
        os.close(told)
        raise
    if pid == 0:
        try:
            become(program, streams, is_terminal)
        except OSError as problem:
            os.write(told, str(problem.errno).encode("ascii"))
        finally:
            os._exit(127)
    os.close(told)
    problem = os.read(said, 16)
    os.close(said)
    if problem:
        os.waitpid(pid, 0)
        raise OSError(int(problem), os.strerror(int(problem)))
    return pid


def become(program, streams, is_terminal):
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        try:
            # Python ignores SIGPIPE and SIGXFSZ, and the parent of a run ignores further ones.
            signal.signal(number, signal.SIG_DFL)
        except (OSError, ValueError):
            pass  # SIGKILL, SIGSTOP, and those of the C library.
    os.setsid()
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    if is_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(program.directory)
    os.execvpe(program.file, program.arguments, program.environment)


def spawn_in_terminal(program, columns, rows):
    """Returns the pid and the master's descriptor, which does not block."""
    master, slave = os.openpty()
    try:
        set_size(master, columns, rows)
        environment = dict(program.environment)
        environment.setdefault("TERM", DEFAULT_TERM)
        inside = Program(program.arguments, environment, program.directory, program.file)
        pid = spawn(inside, (slave, slave, slave), is_terminal=True)
    except OSError:
        os.close(master)
        raise
    finally:
        os.close(slave)
    os.set_blocking(master, False)
    return pid, master


def set_size(master, columns, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def size_in(value, columns=80, rows=24):
    """The size that a client names, cut to what a terminal may have; the given one where it names none."""
    return (
        bounded(value.get("columns"), columns, COLUMNS_MAX),
        bounded(value.get("rows"), rows, ROWS_MAX),
    )


def bounded(value, otherwise, most):
    if not isinstance(value, int) or isinstance(value, bool):
        return otherwise
    return max(1, min(value, most))


def end_of(status):
    """The end of a program as a message has it."""
    if os.WIFSIGNALED(status):
        return {"signal": signal_name(os.WTERMSIG(status))}
    return {"code": os.WEXITSTATUS(status)}


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "SIG%d" % number


def signal_of(name):
    """None for a name that no signal has."""
    return getattr(signal, "SIG" + name, None) if isinstance(name, str) and name.isalnum() else None


def signal_group(group, number):
    try:
        os.killpg(group, number)
    except OSError:
        pass  # The group has ended.


def foreground_of(master):
    """The process group in the foreground of a terminal; None for none."""
    try:
        group = os.tcgetpgrp(master)
    except OSError:
        return None
    return group if group > 0 else None
