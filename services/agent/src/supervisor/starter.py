"""Starts the supervisors of an agent's runs, each by a fork: a Python of its own would take some 30 ms more.

The agent starts it as `python3 -I -S -E starter.py RUNS_FOLDER` and writes orders to its input, a
line of JSON each: {"id": 1, "folder": "...", "order": {...}} (the order is ProcessOrder in start-order.ts).
It answers on its output {"id": 1, "pid": 12}, or {"id": 1, "error": "..."} if it could not fork. A
supervisor is in a session of its own and shares nothing with this process but its memory at the
fork: this process may be killed at any time. An order that it had not answered may be given again
to another, since exactly one supervisor claims a run. It ends with its input.

Started as `python3 -I -S -E starter.py probe LIMITS` it says how runs can be held on this host, {"cgroup": null,
"parent": null, "folders": null}, with the reason of each method that is not possible, and ends. LIMITS are the limits
of an order; "folders" are a run's own /dev/shm and /tmp.
"""

import gc
import json
import os
import signal
import sys
import traceback

# The kernel kills a run for memory, and not the process that records how it ended.
PROTECTED = -900

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import parent  # noqa: E402 -- its folder is put on the path first
import processes  # noqa: E402 -- its folder is put on the path first
import supervise  # noqa: E402 -- its folder is put on the path first


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent.set_memory_killer_score(PROTECTED)
    places = processes.own_cgroups()
    processes.remove_left(places, sys.argv[1])
    cgroups = places if processes.cgroup_problem(places) is None else []
    # No process waits for this one's children.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if hasattr(gc, "freeze"):
        gc.freeze()
    for line in sys.stdin.buffer:
        if not line.endswith(b"\n"):
            return  # The agent was killed while it wrote.
        asked = json.loads(line.decode("utf-8"))
        try:
            pid = os.fork()
        except OSError as problem:
            answer(asked, error=str(problem))
            continue
        if pid == 0:
            become_supervisor(asked, cgroups)
        answer(asked, pid=pid)


def probe(limits):
    cgroup = processes.cgroup_problem(processes.own_cgroups(), limits)
    folders = processes.problem_of(lambda: parent.separate(parent.PROBE_BYTES, None))
    print(json.dumps({"cgroup": cgroup, "parent": parent.adoption_problem(), "folders": folders}))


def answer(asked, **said):
    os.write(1, (json.dumps(dict(said, id=asked["id"])) + "\n").encode("ascii"))


def become_supervisor(asked, cgroups):
    """Does not return."""
    try:
        folder = asked["folder"]
        os.setsid()
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDWR)
        log = os.open("supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for place, file in ((0, nothing), (1, log), (2, log)):
            os.dup2(file, place)
        processes.close_from(3)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        supervise.supervise(folder, asked["order"], cgroups)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "probe":
        probe(json.loads(sys.argv[2]))
    else:
        main()
