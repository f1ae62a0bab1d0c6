"""Starts the server of a task's page: JupyterLab or TensorBoard. It is the command of the task's holder.

Started as `python3 page_server.py KIND FOLDERS` in the task's folder, with TRAINYARD_RUN_DIR and TRAINYARD_TASK_SECRET.
FOLDERS is a JSON object with the agent's package folders by the Python that they are for: {"cp311-x86-64": PATH}.

The task's own Python comes first: if it has the server, nothing else is used. Else the server imports from the agent's
folder first, since an older package of the task's would break it, and kernels get the folder behind their path
(page_kernel.py), so that they import the task's torch and not one of ours. The agent builds a folder that does not
exist yet when this program writes what it needs to packages.json in TRAINYARD_RUN_DIR, and ends the run if it cannot.

The server listens on page.sock in TRAINYARD_RUN_DIR, for its own user alone, and demands the secret of the gateway.
"""

import json
import os
import platform
import sys
import time

sys.dont_write_bytecode = True

# A folder that has been built appears within a look.
LOOK_S = 0.2
WANTED = "packages.json"
SOCKET = "page.sock"
SERVERS = {
    "notebook": ("JupyterLab", "jupyterlab", (4,)),
    "tensorboard": ("TensorBoard", "tensorboard", (2, 10)),
}


def main():
    kind, folders = sys.argv[1], json.loads(sys.argv[2])
    # Kernels and terminals have no use for the secret.
    secret = os.environ.pop("TRAINYARD_TASK_SECRET", "")
    run_dir = os.environ["TRAINYARD_RUN_DIR"]
    packages = None if has_own(kind) else packages_for(kind, folders, run_dir)
    if packages is not None:
        sys.path.insert(1, packages)
    if kind == "notebook":
        import late_grammar

        late_grammar.put_off()
        import jupyter_page as page
    else:
        import tensorboard_page as page
    page.serve(secret, run_dir, packages)


def has_own(kind):
    """Returns whether the task's Python has the server in a version that this program can start."""
    from importlib import metadata

    _, package, least = SERVERS[kind]
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return numbers_of(found)[: len(least)] >= least


def numbers_of(version):
    parts = version.split(".")
    return tuple(int(part) if part.isdigit() else 0 for part in parts)


def packages_for(kind, folders, run_dir):
    """Returns the agent's folder with the server's packages, and waits until the agent has built it."""
    name, package, _ = SERVERS[kind]
    machine = platform.machine().replace("_", "-")
    tag = "cp%d%d-%s" % (sys.version_info[0], sys.version_info[1], machine)
    folder = folders.get(tag)
    if folder is None or platform.libc_ver()[0] != "glibc":
        sys.exit(
            "this task's Python %s (%s) has no %s, and the agent has none for it: "
            "name an image, or a Python, that has %s"
            % (platform.python_version(), tag, name, package)
        )
    if not os.path.isdir(folder):
        print("%s is not in this task's Python, so the agent installs it" % name, flush=True)
        want(run_dir, tag)
        while not os.path.isdir(folder):
            time.sleep(LOOK_S)
        print("%s is installed" % name, flush=True)
    return folder


def want(run_dir, tag):
    draft = os.path.join(run_dir, "." + WANTED)
    with open(draft, "w") as file:
        json.dump({"python": tag}, file)
    os.replace(draft, os.path.join(run_dir, WANTED))


def listening(run_dir, bind):
    """Calls `bind` with the socket's name in its folder, whose path may be longer than an address may be."""
    before, mask = os.getcwd(), os.umask(0o177)
    try:
        os.chdir(run_dir)
        if os.path.lexists(SOCKET):
            os.unlink(SOCKET)
        return bind(SOCKET)
    finally:
        os.chdir(before)
        os.umask(mask)


if __name__ == "__main__":
    # The other programs import this one by its name.
    sys.modules["page_server"] = sys.modules["__main__"]
    main()
