"""Writes the lock files of this folder for the Python that runs it: `python3 lock.py`.

Each file has the server's packages with the digests of their wheels, as `pip download` finds them by name, and is named
by the kind of task and the Python: notebook-cp311-x86-64.txt. Run it on each platform, and with each Python, that the
agents' tasks have. A Python without a file gets a sentence in place of a server.
"""

import hashlib
import pathlib
import platform
import subprocess
import sys
import tempfile

SERVERS = {"notebook": "jupyterlab==4.6.*", "tensorboard": "tensorboard==2.21.*"}


def main():
    for kind, requirement in SERVERS.items():
        version = sys.version_info
        machine = platform.machine().replace("_", "-")
        name = f"{kind}-cp{version[0]}{version[1]}-{machine}.txt"
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:"]
            subprocess.run([*command, "--dest", folder, requirement], check=True)
            lines = sorted(line_of(wheel) for wheel in pathlib.Path(folder).iterdir())
        pathlib.Path(__file__).with_name(name).write_text("".join(lines))


def line_of(wheel):
    package, version = wheel.name.split("-")[:2]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{package.replace('_', '-')}=={version} --hash=sha256:{digest}\n"


if __name__ == "__main__":
    main()
