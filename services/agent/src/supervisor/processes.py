"""The processes of a run in /proc and a cgroup2 (see state/run-group.ts and state/cgroup.ts)."""

import collections
import hashlib
import os
import signal

from parent import enter

NAME_CHARS_MAX = 100
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


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass  # The process has ended.


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


def make_leaf(places, run_folder):
    """Makes a cgroup for the run and returns its path; raises OSError if that is not allowed."""
    digest = hashlib.sha256(run_folder.encode()).hexdigest()[:16]
    name = "trainyard-%s-%s" % (os.path.basename(run_folder)[:NAME_CHARS_MAX], digest)
    problem = OSError(0, "no cgroup2 is mounted on this host")
    for place in places:
        try:
            path = os.path.join(place, name)
            os.makedirs(path, exist_ok=True)
            return path
        except OSError as refused:
            problem = refused
    raise problem


def cgroup_problem(places):
    """The reason why a process cannot be moved into a new cgroup and back; None if it can."""
    try:
        leaf = make_leaf(places, "/probe-%d" % os.getpid())
        try:
            enter(leaf)
            enter(os.path.dirname(leaf))
        finally:
            remove_leaf(leaf)
        return None
    except OSError as problem:
        return str(problem)


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
        with open(os.path.join(leaf, "cgroup.kill"), "w") as file:
            file.write("1")
        return
    except OSError:
        pass  # Older than 5.14.
    freeze(leaf, "1")
    for one in members_of(leaf):
        send(one.pid, signal.SIGKILL)
    freeze(leaf, "0")


def freeze(leaf, value):
    try:
        with open(os.path.join(leaf, "cgroup.freeze"), "w") as file:
            file.write(value)
    except OSError:
        pass  # Older than 5.2, or gone.


def remove_leaf(leaf):
    for folder, _, _ in os.walk(leaf, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            pass  # Not empty yet: it costs the kernel a little memory.
