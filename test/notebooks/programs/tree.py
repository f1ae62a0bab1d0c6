"""Makes files in the folder of a task by a seed ("make SEED"), and prints a line for each ("show" prints only)."""

import hashlib
import json
import os
import random
import stat
import sys

TOP = os.path.join(os.environ["HOME"], "drawn")
BIG_BYTES = 9 * 1024 * 1024
NAMES = ["plain", "with space", ".hidden", "näme", "new\nline", "-dash", "UPPER"]


def make(draw):
    os.makedirs(TOP, exist_ok=True)
    folders = [TOP]
    for _ in range(12):
        folder = os.path.join(draw.choice(folders), f"{draw.choice(NAMES)}-{draw.randrange(9)}")
        if not os.path.lexists(folder):
            os.mkdir(folder)
            folders.append(folder)
    for n in range(200):
        write(os.path.join(draw.choice(folders), f"{draw.choice(NAMES)}.{n}"), draw)
    # A file of this size is stored by itself, and the second pause finds only its end changed.
    with open(os.path.join(TOP, "big.bin"), "ab") as file:
        file.write(draw.randbytes(BIG_BYTES))


def write(path, draw):
    if os.path.lexists(path):
        os.unlink(path)
    if draw.random() < 0.1:
        os.symlink(draw.choice(["plain.1", "../outside", "/etc/hostname"]), path)
        return
    with open(path, "wb") as file:
        file.write(draw.randbytes(draw.choice([0, 1, 100, 5_000])))
    os.chmod(path, draw.choice([0o600, 0o644, 0o755, 0o400]))


def show():
    for folder, names, files in os.walk(TOP):
        for name in sorted(names + files):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            line = [os.path.relpath(path, TOP), stat.filemode(status.st_mode)]
            if stat.S_ISLNK(status.st_mode):
                line.append(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    line += [int(status.st_mtime), hashlib.sha256(file.read()).hexdigest()]
            print(json.dumps(line))


if sys.argv[1] == "make":
    make(random.Random(int(sys.argv[2])))
show()
