"""The processes of a run in /proc and a cgroup2 (see state/run-group.ts and state/cgroup.ts)."""

import collections
import hashlib
import os
import signal

from parent import enter, send

# A cgroup's name, like a file's, has at most 255 bytes.
NAME_CHARS_MAX = 200
NAMED_MAX = 5

Seen = collections.namedtuple("Seen", "pid parent group name state started is_living")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def stat_of(pid):
    """None where there is no such process. A zombie whose other threads live is a process."""
    stat = read("/proc/%d/stat" % pid)
    if not stat:
        return None
    name = stat[stat.index(b"(") + 1 : stat.rindex(b")")].decode("utf-8", "replace")
    fields = stat[stat.rindex(b")") + 2 :].split()
    state = fields[0].decode()
    is_living = state != "X" and (state != "Z" or int(fields[17]) > 1)
    return Seen(pid, int(fields[1]), int(fields[2]), name, state, fields[19].decode(), is_living)


def identity_of(pid):
    """Returns a process's identity as the kernel library's process-identity.ts does, even of a
    child that has ended and was not waited for.
    """
    seen = stat_of(pid)
    if seen is None:
        return None
    boot = read("/proc/sys/kernel/random/boot_id").decode().strip()
    return {"pid": pid, "started": seen.started, "boot": boot}


def descendants():
    """Returns all living descendants of this process."""
    children = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        seen = stat_of(int(name)) if name.isdigit() else None
        if seen is not None and seen.is_living:
            children[seen.parent].append(seen)
    found = []
    waiting = [os.getpid()]
    while waiting:
        below = children[waiting.pop()]
        found.extend(below)
        waiting.extend(one.pid for one in below)
    return found


def close_from(lowest):
    for name in os.listdir("/proc/self/fd"):
        if int(name) >= lowest:
            try:
                os.close(int(name))
            except OSError:
                pass  # The one by which the folder was read.


def describe_left(left):
    """Describes processes that were killed and still exist, as core/surviving-processes.ts does;
    empty for none.
    """
    if not left:
        return ""
    named = [
        "%d (%s%s)" % (one.pid, one.name, ", in the kernel" if one.state == "D" else "")
        for one in left[:NAMED_MAX]
    ]
    more = " and %d more" % (len(left) - NAMED_MAX) if len(left) > NAMED_MAX else ""
    what, these, them = (
        ("process", "was killed and is", "it is")
        if len(left) == 1
        else ("processes", "were killed and are", "they are")
    )
    return "%s %s%s %s still there: the run's slots stay taken until %s gone" % (
        what,
        ", ".join(named),
        more,
        these,
        them,
    )


def own_cgroups():
    """The cgroup2 folders of this process, the most promising first."""
    return cgroups_in(*(read("/proc/self/" + name).decode() for name in ("mountinfo", "cgroup")))


def cgroups_in(mountinfo, membership):
    """In a line of proc_pid_mountinfo(5) the fourth field is the root of the mount and the fifth its
    place; the type follows " - ".
    """
    own = None
    for line in membership.splitlines():
        if line.startswith("0::/"):
            own = line[3:]
    places = []
    for line in mountinfo.splitlines():
        fields, _, after = line.partition(" - ")
        if own is None or after.split(" ")[0] != "cgroup2":
            continue
        _, _, _, root, mount = fields.split(" ")[:5]
        if root != "/" and own != root and not own.startswith(root + "/"):
            continue
        below = own if root == "/" else own[len(root) :]
        place = mount.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")
        places.append(os.path.normpath(place + "/" + below))
    return places


def with_parents(places):
    """Adds the cgroups above: one with processes of its own, such as a service's, gives its children no controllers."""
    above = [os.path.dirname(place) for place in places]
    return places + [place for place in above if os.path.exists(place + "/cgroup.procs")]


def make_leaf(places, run_folder, limits=None):
    """Makes a cgroup for the run, with limits if there are any, and returns its path; raises OSError if that is not
    allowed.
    """
    runs_folder, run = os.path.split(run_folder)
    name = "trainyard-%s-%s" % (run[:NAME_CHARS_MAX], mark_of(runs_folder))
    problem = OSError(0, "no cgroup2 is mounted on this host")
    for place in with_parents(places) if limits else places:
        path = os.path.join(place, name)
        try:
            os.makedirs(path, exist_ok=True)
            limit(path, limits or {})
            return path
        except OSError as refused:
            problem = refused
            remove_leaf(path)
    raise problem


def limit(leaf, limits):
    """Sets the memory, in bytes, and the number of processes and threads that all of the run may have."""
    for controller, value in limits.items():
        maximum = os.path.join(leaf, controller + ".max")
        if not os.path.exists(maximum):
            enable(controller, os.path.dirname(leaf))
        write(maximum, str(value))
    # The kernel kills all of a run, not one of its processes.
    write_if_offered(os.path.join(leaf, "memory.oom.group"), "1")
    if "memory" in limits:
        # A run beyond its limit ends, instead of slowing down its neighbours.
        write_if_offered(os.path.join(leaf, "memory.swap.max"), "0")


def enable(controller, place):
    try:
        write(os.path.join(place, "cgroup.subtree_control"), "+" + controller)
    except OSError as problem:
        why = "the controller %s cannot be enabled in %s: %s"
        raise OSError(problem.errno, why % (controller, place, problem.strerror)) from None


def write_if_offered(path, text):
    if os.path.exists(path):
        write(path, text)


def write(path, text):
    # Without the flag to make it, a file that the kernel does not offer stays missing.
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode("ascii"))
    finally:
        os.close(file)


def memory_kills(leaf):
    """The number of the run's processes that the kernel has killed for memory."""
    for line in read(os.path.join(leaf, "memory.events")).decode().splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0


def mark_of(runs_folder):
    """The end of the names of an agent's cgroups, by which its next start finds those that were not removed."""
    return hashlib.sha256(runs_folder.encode()).hexdigest()[:16]


def remove_left(places, runs_folder):
    """Removes the empty cgroups of an agent's ended runs, and of probes that were killed."""
    for place in with_parents(places):
        for name in folders_in(place):
            kind, _, rest = name.partition("-")
            run, _, mark = rest.rpartition("-")
            if kind != "trainyard":
                continue
            of_run = mark == mark_of(runs_folder) and is_over(os.path.join(runs_folder, run))
            of_probe = mark == mark_of("/") and stat_of(int(run.rpartition("-")[2])) is None
            if of_run or of_probe:
                remove_leaf(os.path.join(place, name))


def folders_in(place):
    try:
        return os.listdir(place)
    except OSError:
        return []


def is_over(run_folder):
    """A run without an exit may be about to enter its cgroup."""
    return not os.path.exists(run_folder) or os.path.exists(os.path.join(run_folder, "exit.json"))


def cgroup_problem(places, limits=None):
    """The reason why a process cannot be moved into a new cgroup with such limits; None if it can."""
    try:
        leaf = make_leaf(places, "/probe-%d" % os.getpid(), limits)
    except OSError as problem:
        return str(problem)
    try:
        return problem_of(lambda: enter(leaf))
    finally:
        remove_leaf(leaf)


def problem_of(act):
    """Acts in a process of its own; returns a text if that fails."""
    said, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except (OSError, AttributeError) as problem:
            os.write(told, str(problem).encode("utf-8", "replace"))
        finally:
            os._exit(0)
    os.close(told)
    with os.fdopen(said, "rb") as file:
        text = file.read().decode("utf-8", "replace")
    os.waitpid(pid, 0)
    return text or None


def is_populated(leaf):
    return b"populated 1\n" in read(os.path.join(leaf, "cgroup.events"))


def members_of(leaf):
    """Returns the living processes in the cgroup and in the cgroups that the run has made below it."""
    found = []
    for folder, _, _ in os.walk(leaf):
        pids = read(os.path.join(folder, "cgroup.procs")).split()
        found.extend(stat_of(int(pid)) for pid in pids)
    return [one for one in found if one is not None and one.is_living]


def kill_leaf(leaf):
    """Kills the processes in the cgroup. A kernel without cgroup.kill freezes them meanwhile, so
    that fewer forks continue.
    """
    try:
        write(os.path.join(leaf, "cgroup.kill"), "1")
        return
    except OSError:
        pass  # Older than 5.14.
    freeze(leaf, "1")
    for one in members_of(leaf):
        send(one.pid, signal.SIGKILL)
    freeze(leaf, "0")


def freeze(leaf, value):
    try:
        write(os.path.join(leaf, "cgroup.freeze"), value)
    except OSError:
        pass  # Older than 5.2, or gone.


def remove_leaf(leaf):
    for folder, _, _ in os.walk(leaf, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            pass  # Not empty yet: it costs the kernel a little memory.
