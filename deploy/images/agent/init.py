"""The first process of an agent's container: `python3 -I -S -E init.py PROGRAM [ARGUMENT …]`.

It starts the program, passes signals on to it, and ends as it does. The kernel makes it the parent of every process
that loses its own, such as the supervisors of runs after the end of their starter. Node waits only for processes that
it started, so as the first process it would keep these as zombies until the container's limit of processes.
"""

import os
import signal
import sys

# Signals that the kernel sends to a process for its own faults are not passed on.
FAULTS = {
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGTRAP,
    signal.SIGABRT,
}
NEVER_BLOCKED = {signal.SIGKILL, signal.SIGSTOP}


def main(argv):
    waited = signal.valid_signals() - FAULTS - NEVER_BLOCKED
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    program = os.fork()
    if program == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execv(argv[0], argv)
    while True:
        number = signal.sigwait(waited)
        if number != signal.SIGCHLD:
            os.kill(program, number)
            continue
        status = wait_for_ended(program)
        if status is not None:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def wait_for_ended(program):
    """Returns the status of the program once it has ended; a signal may announce several ends."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == program:
            return status
        if pid == 0:
            return None


sys.exit(main(sys.argv[1:]))
