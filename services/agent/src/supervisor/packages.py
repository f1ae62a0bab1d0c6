"""Makes the virtual environment of a task that keeps its work, into which pip installs: `.packages` in its HOME.

It is on top of the task's own Python: the packages of that come behind its own, through a file that names their
folders. So pip finds what the Python has, installs only the rest, and removes nothing from it. The folder is saved with
the task and may come back at another path, under another Python: its links and scripts are corrected at each start.

Only the standard library, and nothing newer than Python 3.7.
"""

import json
import os
import re
import shutil
import subprocess

FOLDER = ".packages"
ANSWER_S = 30
# Scripts are small; a larger file is a program of another kind.
SCRIPT_BYTES_MAX = 64 * 1024
ASK = """import json, os, sys
base = getattr(sys, "_base_executable", None) or os.path.realpath(sys.executable)
sites = [p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages")]
version = [sys.version_info[0], sys.version_info[1], sys.version_info[2]]
print(json.dumps([sys.executable, os.path.dirname(os.path.realpath(base)), sites, version]))"""
PIP = '#!/bin/sh\nexec "${0%/*}/python3" -m pip "$@"\n'
OWN_PYTHON = re.compile(rb"[^\s'\"!]*/\.packages/bin/python[0-9.]*")


def prepare(environment):
    """Makes the environment, and adds its variables. Returns a line if it cannot be made."""
    python = environment.get("PIP_PYTHON", "")
    folder = os.path.dirname(os.path.dirname(python))
    if os.path.basename(folder) != FOLDER:
        return None  # A task that keeps nothing, or a Python of its own for pip.
    try:
        site = make(folder, environment)
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        return "packages that pip installs are not kept: %s\n" % problem
    if site is not None:
        before = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = site + os.pathsep + before if before else site
        environment["VIRTUAL_ENV"] = folder
    return None


def make(folder, environment):
    """Returns the folder of its packages; None if the task has no Python."""
    programs = os.path.join(folder, "bin")
    path = [one for one in environment.get("PATH", "").split(os.pathsep) if one != programs]
    python = shutil.which("python3", path=os.pathsep.join(path))
    if python is None:
        return None
    executable, home, sites, version = ask(python, environment)
    name = "python%d.%d" % tuple(version[:2])
    site = os.path.join(folder, "lib", name, "site-packages")
    for made in (programs, site):
        os.makedirs(made, exist_ok=True)
    for link, target in (("python3", executable), ("python", "python3"), (name, "python3")):
        put_link(os.path.join(programs, link), target)
    settings = "home = %s\ninclude-system-site-packages = false\nversion = %d.%d.%d\n"
    write(os.path.join(folder, "pyvenv.cfg"), settings % (home, *version))
    behind = "".join("import site; site.addsitedir(%r)\n" % one for one in sites)
    write(os.path.join(site, "_python_of_the_task.pth"), behind)
    for script in ("pip", "pip3"):
        write(os.path.join(programs, script), PIP, 0o755)
    correct_scripts(programs)
    return site


def ask(python, environment):
    """The Python may be a script that finds another one. What the task has installed is not asked for."""
    without = {key: value for key, value in environment.items() if not key.startswith("PYTHON")}
    answer = subprocess.run(
        [python, "-c", ASK],
        env=without,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=ANSWER_S,
    )
    if answer.returncode != 0:
        last = answer.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ValueError("%s ended with %d: %s" % (python, answer.returncode, "".join(last)))
    return json.loads(answer.stdout.decode("utf-8"))


def put_link(path, target):
    if os.path.islink(path):
        if os.readlink(path) == target:
            return
        os.unlink(path)
    os.symlink(target, path)


def write(path, text, mode=0o644):
    """Leaves a file that is right as it is: it would count as changed."""
    content = text.encode("utf-8")
    try:
        with open(path, "rb") as file:
            if file.read() == content:
                return
    except OSError:
        pass
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def correct_scripts(programs):
    """The scripts that pip has made name the Python by its whole path."""
    own = os.path.join(programs, "python3").encode("utf-8", "surrogateescape")
    for name in os.listdir(programs):
        path = os.path.join(programs, name)
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        if os.path.getsize(path) > SCRIPT_BYTES_MAX:
            continue
        with open(path, "rb") as file:
            lines = file.read().split(b"\n", 2)
        if not lines[0].startswith(b"#!"):
            continue
        head = b"\n".join(lines[:2])
        corrected = OWN_PYTHON.sub(lambda _: own, head)
        if corrected != head:
            with open(path, "wb") as file:
                file.write(b"\n".join([corrected, *lines[2:]]))
