"""The supervisor of one run that is a process of this host, in a process that starter.py has forked. For runs in
containers see main.ts.

It claims the run, which exactly one supervisor can, forks the run's parent (parent.py), records who leads the run,
writes the lines of its output, and records how it ended once nothing of it lives. The run is held by its parent, and by
a cgroup where the host gives one. Both supervisor and parent adopt (subreapers): where the parent is killed, what it
held becomes a child of the supervisor, which ends it.
"""

import fcntl
import json
import os
import selectors
import signal
import time

import files
import parent
import processes
import rewritten_lines

LOOK_S = 0.5
RECORD_AGAIN_S = 1.0
OUTPUT_END_S = 2.0
TELL_LEFT_S = 10.0
KILL_PAUSE_FIRST_S = 0.001
MESSAGE_CHARS_MAX = 500
EXIT_MESSAGE_CHARS_MAX = 600
NOT_FOUND, NOT_EXECUTABLE, KILLED = 127, 126, 128 + signal.SIGKILL
# After a chunk of a throttled run no stream is read for a while, so its chunks are smaller.
CHUNK_BYTES, THROTTLED_CHUNK_BYTES = 64 * 1024, 8 * 1024
OUT, ERR, CONTROL, WAKE = "out", "err", "control", "wake"
PARENT_LOST = (
    "the process that waited for it was killed, so the agent ended it: "
    "how it would have ended is not known"
)


def claim(folder):
    """A killed agent and its successor may both have started a supervisor."""
    draft = os.path.join(folder, ".supervisor.json.%d.new" % os.getpid())
    files.write_file(draft, files.json_bytes(processes.identity_of(os.getpid())))
    try:
        os.link(draft, os.path.join(folder, "supervisor.json"))
        return True
    except FileExistsError:
        return False
    finally:
        files.remove(draft)


def supervise(folder, order, cgroups):
    """`cgroups` are the places at which a cgroup for a run can be made; none: the run has its parent alone."""
    # A shutdown of the machine signals all processes, but this one must still record how the run
    # ended.
    for number in parent.IGNORED:
        signal.signal(number, signal.SIG_IGN)
    if claim(folder):
        Supervisor(folder, order, cgroups).run()


class Supervisor:
    def __init__(self, folder, order, cgroups):
        self.folder = folder
        self.order = order
        self.output = files.Output(os.path.join(folder, "output"))
        self.throttle = files.Throttle(self.output)
        self.leaf = None
        self.memory_kills = 0
        self.lines_said = 0
        self.cgroups = cgroups
        self.leader = None
        self.end = None
        self.end_ms = None
        self.ended_at = 0.0
        self.failure = None
        self.unrecorded = None
        self.told = {"notice": "", "left": ""}
        self.looked_at = time.monotonic()
        self.last_error = ""
        self.said = b""
        self.splitters = {OUT: files.LineSplitter(), ERR: files.LineSplitter()}
        self.rewritten = {name: rewritten_lines.RewrittenLines() for name in self.splitters}
        self.selector = selectors.DefaultSelector()

    def run(self):
        parent.adopt()
        # A signal wakes the wait for events through this pipe.
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGTERM, lambda *_: self.shut_down())
        self.selector.register(woken, selectors.EVENT_READ, WAKE)
        try:
            self.hold()
            self.start()
        except OSError as problem:
            self.remove_leaf()
            self.not_launched(problem)
            return
        while self.is_open(CONTROL):
            self.look(LOOK_S)
        self.throttle.end()
        self.kill_rest()
        deadline = time.monotonic() + OUTPUT_END_S
        while (self.is_open(OUT) or self.is_open(ERR)) and time.monotonic() < deadline:
            self.look(deadline - time.monotonic())
        for source, splitter in self.splitters.items():
            lines = self.rewritten[source].push(splitter.end(), time.monotonic())
            self.write(source, lines + self.rewritten[source].end())
        self.tell_tmp()
        self.record_end()

    def hold(self):
        """Records the mechanism that holds the run together before it starts."""
        try:
            if self.order["mechanism"] != "parent":
                self.leaf = processes.make_leaf(self.cgroups, self.folder, self.order.get("limits"))
        except OSError:
            if self.order["mechanism"] == "cgroup" or "limits" in self.order:
                raise
        if self.leaf is not None:
            record = {"mechanism": "cgroup", "path": self.leaf}
            files.write_record(self.folder, "group.json", record)

    def start(self):
        (out, out_end), (err, err_end), (said, control) = os.pipe(), os.pipe(), os.pipe()
        begun, self.answer = os.pipe()
        pid = os.fork()
        if pid == 0:
            self.become_parent([begun, out_end, err_end, control])
        for end in (begun, out_end, err_end, control):
            os.close(end)
        for file, name in ((out, OUT), (err, ERR), (said, CONTROL)):
            self.selector.register(file, selectors.EVENT_READ, name)
        self.parent = pid
        if self.leaf is None:
            record = {"mechanism": "parent", "parent": processes.identity_of(pid)}
            files.write_record(self.folder, "group.json", record)
        self.tell_parent()

    def become_parent(self, ends):
        """Does not return. The child keeps only its own ends of the pipes, so that each pipe closes
        when its user ends.
        """
        try:
            # The copies are above the descriptors that the ends get.
            ends = [fcntl.fcntl(end, fcntl.F_DUPFD, len(ends)) for end in ends]
            for place, end in enumerate(ends):
                os.dup2(end, place)
            processes.close_from(len(ends))
            signal.set_wakeup_fd(-1)
            for number in parent.IGNORED:
                signal.signal(number, signal.SIG_IGN)
            os.set_inheritable(parent.CONTROL, False)
            parent.adopt()
            if parent.line_of(parent.ORDER) is not None:
                order = self.order if self.leaf is None else dict(self.order, cgroup=self.leaf)
                parent.run(order, self.is_asked)
        except OSError as problem:
            parent.tell_failure(problem)
        finally:
            os._exit(0)

    def is_asked(self):
        """False for a run that is to be killed."""
        try:
            kill = files.read_record(self.folder, "kill.json")
        except OSError:
            return False
        return kill is not None and kill["why"] != "wanted"

    def tell_parent(self):
        try:
            os.write(self.answer, b"\n")
        except OSError:
            pass  # The parent was killed.

    def is_open(self, name):
        return any(key.data == name for key in self.selector.get_map().values())

    def look(self, wait_s):
        for key, _ in self.selector.select(max(0, wait_s)):
            is_throttled = self.throttle.since is not None
            content = os.read(key.fd, THROTTLED_CHUNK_BYTES if is_throttled else CHUNK_BYTES)
            if key.data == WAKE:
                continue
            if not content:
                self.selector.unregister(key.fd)
                os.close(key.fd)
            elif key.data == CONTROL:
                self.hear(content)
            else:
                pieces = self.splitters[key.data].push(content)
                lines = self.rewritten[key.data].push(pieces, time.monotonic())
                self.write(key.data, lines)
                if self.is_open(CONTROL):
                    time.sleep(self.throttle.pause_s(len(content), len(lines)))
        if time.monotonic() - self.looked_at < LOOK_S:
            return
        self.looked_at = time.monotonic()
        for source, rewritten in self.rewritten.items():
            self.write(source, rewritten.due(self.looked_at))
        if self.unrecorded is not None:
            self.record_leader()
        if self.end is None:
            self.tell_notice()
        else:
            self.tell_left()

    def write(self, source, lines):
        self.output.write(files.STDOUT if source == OUT else files.STDERR, lines)
        if source == ERR:
            said = [text for text, _ in lines if text.strip()]
            self.last_error = said[-1].strip() if said else self.last_error

    def hear(self, content):
        self.said += content
        *lines, self.said = self.said.split(b"\n")
        for line in lines:
            told = json.loads(line.decode("ascii"))
            if "pid" in told:
                self.lead(processes.identity_of(told["pid"]))
            elif "error" in told:
                self.failure = told
            else:
                self.end, self.end_ms, self.ended_at = told, files.now_ms(), time.monotonic()
                self.memory_kills = 0 if self.leaf is None else processes.memory_kills(self.leaf)
                self.kill_leaf()

    def lead(self, leader):
        """The leader is None if the parent was killed just now, which its silence shows."""
        if leader is not None:
            self.leader = leader
            self.unrecorded = dict(leader, atMs=files.now_ms())
            self.record_leader()

    def record_leader(self):
        """Retried on a full disk; the parent waits until the leader is recorded."""
        try:
            files.write_record(self.folder, "process.json", self.unrecorded)
        except OSError as problem:
            if not files.is_disk_full(problem):
                raise
            return
        self.unrecorded = None
        self.tell_parent()

    def tell_notice(self):
        try:
            notice = files.read_record(self.folder, "notice.json") or {}
        except OSError:
            return  # Read at the next look: it must not end the run.
        for line in notice.get("said", [])[self.lines_said :]:
            self.lines_said += 1
            self.output.say(line)
        text = notice.get("text", "")
        # The slots of a run that has ended are not its own.
        if text == self.told["notice"] or self.end is not None:
            return
        self.told["notice"] = text
        after = "; this run continues, and no other gets the slot until the device is back"
        self.output.say(text + after if text else "all slots of this run are offered again")

    def tell_left(self):
        if time.monotonic() - self.ended_at < TELL_LEFT_S:
            return
        left = [one for one in self.members() if not self.is_parent(one)]
        text = processes.describe_left(left)
        if text and text != self.told["left"]:
            self.output.say(text)
        self.told["left"] = text

    def tell_tmp(self):
        text = files.describe_tmp(self.order.get("own", {}).get("tmp"))
        if text:
            self.output.say(text)

    def is_parent(self, one):
        return one.pid == self.parent

    def members(self):
        inside = [] if self.leaf is None else processes.members_of(self.leaf)
        found = {one.pid: one for one in processes.descendants() + inside}
        return list(found.values())

    def kill_leaf(self):
        if self.leaf is not None and processes.is_populated(self.leaf):
            processes.kill_leaf(self.leaf)

    def kill_rest(self):
        """The parent has ended: a killed one's children belong to this process now, and a cgroup
        may hold processes moved into it.
        """
        os.waitpid(self.parent, 0)
        self.ended_at = self.ended_at or time.monotonic()
        pause = KILL_PAUSE_FIRST_S
        while self.reap() or (self.leaf is not None and processes.is_populated(self.leaf)):
            self.kill_leaf()
            parent.kill_descendants(set())
            self.look(pause)
            pause = min(pause * 2, LOOK_S)
        self.remove_leaf()

    def reap(self):
        """Returns whether a child is left."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
            return True
        except ChildProcessError:
            return False

    def remove_leaf(self):
        if self.leaf is not None:
            processes.remove_leaf(self.leaf)

    def shut_down(self):
        """SIGTERM ends the run as a shutdown, which counts as no failure."""
        if self.leader is None or self.end is not None:
            return
        if files.read_record(self.folder, "kill.json") is None:
            record = {"why": "shutdown", "atMs": files.now_ms()}
            try:
                files.write_record(self.folder, "kill.json", record)
            except OSError as problem:
                if not files.is_disk_full(problem):
                    raise
        processes.send(self.leader["pid"], signal.SIGTERM)

    def record_end(self):
        if self.failure is not None:
            self.refuse(self.failure["error"], self.failure["message"])
        elif self.end is None:
            self.output.say(PARENT_LOST)
            self.record("lost", None, None, PARENT_LOST, files.now_ms())
        else:
            # The agent may have said why it ends the run just before the signal.
            self.tell_notice()
            code, name = self.end.get("code"), self.end.get("signal")
            self.record("exited", code, name, self.message(code, name), self.end_ms)

    def refuse(self, error, text):
        program = json.dumps((self.order["argv"] or [""])[0], ensure_ascii=False)
        message = "the entrypoint could not be started: " + text
        if error == "ENOENT":
            why = "was not found on the agent's host: name one that is on its PATH"
            message = "the entrypoint's program %s %s" % (program, why)
        elif error == "EACCES":
            message = "the entrypoint's program %s may not be run: is it executable?" % program
        self.output.say(message)
        code = NOT_FOUND if error == "ENOENT" else NOT_EXECUTABLE
        self.record("exited", code, None, message, files.now_ms())

    def not_launched(self, problem):
        message = "the agent could not start it: %s" % problem
        self.output.say(message)
        self.record("not_launched", None, None, message, files.now_ms())

    def message(self, code, name):
        if code == 0:
            return ""
        # The agent's kills are recorded; an unrecorded SIGKILL comes from the kernel.
        is_unexplained = files.read_record(self.folder, "kill.json") is None
        how = "exited with code %s" % code if name is None else "ended by " + name
        if name == "SIGKILL" and is_unexplained:
            how += ", " + self.memory_text()
        elif code == KILLED and is_unexplained:
            how += ", which a shell gives for a process that SIGKILL ended, " + self.memory_text()
        elif code == NOT_FOUND:
            how += ", which a shell gives for a command that it does not find"
        return (how + ": " + self.last_error if self.last_error else how)[:MESSAGE_CHARS_MAX]

    def memory_text(self):
        if self.memory_kills == 0:
            return "often because the host ran out of memory"
        if "memory" not in self.order.get("limits", {}):
            return "because the kernel ended it when the host ran out of memory"
        mebibytes = self.order["limits"]["memory"] // 1024**2
        return "because the run reached its memory limit of %d MiB on this host" % mebibytes

    def record(self, kind, code, name, message, at_ms):
        """Retried on a full disk, since only this process knows the exit."""
        text = message[:EXIT_MESSAGE_CHARS_MAX].replace("\0", "\ufffd")
        exit = {"kind": kind, "code": code, "signal": name, "message": text, "atMs": at_ms}
        while True:
            try:
                files.write_record(self.folder, "exit.json", exit)
                return
            except OSError as problem:
                if not files.is_disk_full(problem):
                    raise
            time.sleep(RECORD_AGAIN_S)
