"""The parent of a run: it adopts what in the run loses its own parent (a subreaper).

A supervisor that starter.py has forked runs it in a process of its own, by one more fork. It starts the command as the
leader of a new session, reports on descriptor 3, a line of JSON each, and ends when none of its descendants is left:

  {"pid": 12}                            the leader is up; it is not waited for before the supervisor has answered
  {"error": "ENOENT", "message": "..."}  it could not be started
  {"code": 3} or {"signal": "SIGTERM"}   the leader's end; from then on everything that it left is killed

A run that was asked to end, of which only the leader got SIGTERM, ends when its last process has ended. What loses its
parent gets the signal then, so that each process may save its state while those that it needs still live.

An order with {"cgroup": path} is for a process that is born there.

Started as `python3 -I -S -E parent.py` it adopts nothing: it reads its order from descriptor 3 and becomes the command
itself, or reports why it cannot.

An order with {"own": {"shm": bytes, "tmp": path}} is for a process with a /dev/shm, of at most this size, and a /tmp of
its own; null is for the host's.

An order with {"user": {"uid", "gid", "groups"}} is for a process of that user, which can get no other rights again.
Until it is that user's, nothing that the order says has any effect: its variables, its program and its folder are the
run's own word.

Only the standard library, and nothing newer than Python 3.6. When the supervisor dies the run continues, and the
next supervisor ends it. When this process dies the run is found by /proc alone.
"""

import ctypes
import errno
import json
import os
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNS = 0x20000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_SLAVE = 0x2, 0x4, 0x1000, 0x4000, 0x80000
# The run's files belong to its user and group: in a folder with setgid that is the group of the storage.
USER_UMASK = 0o007
PROBE_BYTES = 1024**2
CONTROL = 3
ORDER = 0
# The supervisor ignores the same signals: the signal that ends the run must not end this process
# before it has seen the run's end.
IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
# Processes of a fork bomb that were not stopped in this many looks are found by the next ones.
STOP_ROUNDS_MAX = 100
LOOK_FIRST_S = 0.0005
LOOK_LAST_S = 0.5


def tell(**record):
    try:
        os.write(CONTROL, (json.dumps(record) + "\n").encode("ascii"))
    except OSError:
        pass  # The supervisor is dead; what it would have done is done by the agent.


def line_of(descriptor):
    data = b""
    while not data.endswith(b"\n"):
        piece = os.read(descriptor, 65536)
        if not piece:
            return None
        data += piece
    return data


def start(order):
    """Returns the leader's pid once it has become another program; raises OSError with the error of
    exec or chdir.
    """
    said, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(CONTROL)
            if "cgroup" in order:
                enter(order["cgroup"])
            become(order)
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


def enter(cgroup):
    with open(os.path.join(cgroup, "cgroup.procs"), "w") as file:
        file.write("0")


def become(order):
    """Does not return; raises OSError with the error of setgroups, chdir or exec."""
    environment = {text(key): text(value) for key, value in order["environment"].items()}
    arguments = [text(part) for part in order["argv"]]
    for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    set_memory_killer_score(0)
    own = order.get("own")
    if own is not None:
        separate(own["shm"], own["tmp"])
    user = order.get("user")
    if user is not None:
        become_user(user["uid"], user["gid"], user["groups"])
    os.chdir(text(order["work"]))
    os.execvpe(arguments[0], arguments, environment)


def become_user(uid, gid, groups):
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # After this call no setuid program, such as sudo, gives the process further rights.
    control_process(PR_SET_NO_NEW_PRIVS)
    os.umask(USER_UMASK)


def separate(shm, tmp):
    """Gives this process and its descendants a /dev/shm of `shm` bytes of their own, and `tmp` as /tmp; None is for the
    host's. The mounts go with the last of these processes. What the host mounts meanwhile appears here too.
    """
    call("unshare", CLONE_NEWNS)
    call("mount", None, b"/", None, MS_REC | MS_SLAVE, None)
    if shm is not None:
        data = b"mode=1777,size=%d" % shm
        call("mount", b"tmpfs", b"/dev/shm", b"tmpfs", MS_NOSUID | MS_NODEV, data)
    if tmp is not None:
        # Programs with users of their own, such as apt, write to it; on the host only the owner gets to it.
        os.makedirs(os.path.dirname(tmp), mode=0o700, exist_ok=True)
        os.makedirs(tmp, exist_ok=True)
        os.chmod(tmp, 0o1777)
        call("mount", text(tmp), b"/tmp", None, MS_BIND, None)


def control_process(option):
    call("prctl", option, 1, 0, 0, 0)


def call(name, *values):
    """Raises OSError with the name of the system call."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*values) != 0:
        number = ctypes.get_errno()
        raise OSError(number, name + ": " + os.strerror(number))


def set_memory_killer_score(score):
    """The higher the score, the sooner the kernel kills the process for memory. Only root may lower it."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(str(score))
    except OSError:
        pass


def text(value):
    return value.encode("utf-8", "replace")


def tell_end(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = "SIG%d" % number
        tell(signal=name)
    else:
        tell(code=os.WEXITSTATUS(status))


def children_by_parent():
    children = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/" + name + "/stat", "rb") as file:
                stat = file.read()
        except OSError:
            continue
        fields = stat[stat.rindex(b")") + 2 :].split(None, 2)
        children.setdefault(int(fields[1]), []).append(int(name))
    return children


def kill_descendants(killed):
    """Stops all of them before it kills any: a fork bomb makes processes faster than they are killed one by one."""
    stopped = set()
    for _ in range(STOP_ROUNDS_MAX):
        running = [pid for pid in descendants() if pid not in stopped]
        if not running:
            break
        for pid in running:
            send(pid, signal.SIGSTOP)
        stopped.update(running)
    for pid in stopped:
        kill(pid, killed)


def descendants():
    children = children_by_parent()
    found = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), ())
        found.extend(below)
        waiting.extend(below)
    return found


def kill_children(killed):
    """Kills processes that were adopted just now, without a scan of all of /proc: a process that
    forks and ends is here only briefly.
    """
    path = "/proc/self/task/%d/children" % os.getpid()
    try:
        with open(path, "rb") as file:
            pids = file.read().split()
    except OSError:
        return
    for pid in pids:
        kill(int(pid), killed)


def kill(pid, killed):
    killed.add(pid)
    send(pid, signal.SIGKILL)


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass  # The process has ended.


def ask_children(asked):
    """Sends SIGTERM to what has lost its parent, once. A process that reads another's output, such as tee, ends by
    itself, when the other has ended.
    """
    outputs = {pipe_of(pid, end) for pid in descendants() for end in (1, 2)}
    for pid in children_by_parent().get(os.getpid(), ()):
        read = pipe_of(pid, 0)
        if pid not in asked and (read is None or read not in outputs):
            asked.add(pid)
            send(pid, signal.SIGTERM)


def pipe_of(pid, descriptor):
    try:
        target = os.readlink("/proc/%d/fd/%d" % (pid, descriptor))
    except OSError:
        return None
    return target if target.startswith("pipe:") else None


def wait_for_all(leader, is_asked):
    """Returns when no child is left, adopted ones included."""
    end = None
    is_told = False
    asked, killed = set(), set()
    pause = LOOK_FIRST_S
    while True:
        try:
            # This call blocks until the leader ends.
            pid, status = os.waitpid(-1, 0 if end is None else os.WNOHANG)
        except OSError as problem:
            if problem.errno == errno.EINTR:
                continue
            break
        if pid == leader:
            end = status
        if end is None:
            continue
        if not is_told and is_asked():
            asked.discard(pid)
            ask_children(asked)
            if pid == 0:
                time.sleep(pause)
                pause = min(pause * 2, LOOK_LAST_S)
            else:
                pause = LOOK_FIRST_S
            continue
        if not is_told:
            tell_end(end)
            is_told = True
        if pid == 0:
            kill_descendants(killed)
            time.sleep(pause)
            pause = min(pause * 2, LOOK_LAST_S)
            continue
        pause = LOOK_FIRST_S
        # A child that ended by itself may have left a child that does the same.
        if pid not in killed:
            kill_children(killed)
        killed.discard(pid)
    if end is not None and not is_told:
        tell_end(end)


def main():
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(CONTROL, False)
    order = line_of(CONTROL)
    if order is None:
        return 0
    try:
        become(json.loads(order.decode("utf-8")))
    except (OSError, ValueError) as problem:
        tell_failure(problem)
    return 127


def adopt():
    control_process(PR_SET_CHILD_SUBREAPER)


def adoption_problem():
    """The reason why a process cannot adopt others on this host; None if it can."""
    try:
        adopt()
    except (OSError, AttributeError) as refused:
        return str(refused)
    return None


def run(order, is_asked):
    """Runs one run, and returns when none of its processes is left. `is_asked` tells whether it was asked to end."""
    try:
        leader = start(order)
    except (OSError, ValueError) as problem:
        tell_failure(problem)
        return
    # The output is the run's: it ends when the run has closed it, so this process must not hold it
    # open.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    tell(pid=leader)
    # Waits, so that the leader's start can be read in /proc, however soon it ends. The read also
    # ends if the supervisor dies.
    line_of(ORDER)
    wait_for_all(leader, is_asked)


def tell_failure(problem):
    number = getattr(problem, "errno", None) or errno.EINVAL
    # The system's text alone: exec adds the program's name, which the reader knows.
    message = getattr(problem, "strerror", None) or str(problem)
    tell(error=errno.errorcode.get(number, "EINVAL"), message=message)


if __name__ == "__main__":
    sys.exit(main())
