"""Stores checkpoints whose content depends on trial and step, and compares restored ones with it; a
file ends it.
"""

import os
import pathlib
import random
import sys
import time

import trainyard

STOP = pathlib.Path(os.environ["STOP"])
STEP_SECONDS = float(os.environ["STEP_SECONDS"])
SMALL_FILES = int(os.environ["SMALL_FILES"])
# The size of an additional file, which is sent in several parts above 64 MiB.
LARGE_BYTES = int(os.environ["LARGE_BYTES"])
SMALL_BYTES = 20_000


def contents(trial, step):
    """The path and bytes of each file. Half of the small files are the same at every step."""
    for index in range(SMALL_FILES):
        mark = step if index % 2 else 0
        yield f"part {index}/é", random.Random(f"{trial} {mark} {index}").randbytes(SMALL_BYTES)
    if LARGE_BYTES:
        yield "large", random.Random(f"{trial} {step}").randbytes(LARGE_BYTES)


def compare(path, trial, step):
    """Compares the files of a restored checkpoint with the content for its step."""
    wanted = dict(contents(trial, step))
    found = {
        str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()
    }
    found.pop("metadata.json")
    if found != wanted:
        names = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        print(f"DAMAGED at {step}: {names}", flush=True)
        sys.exit(3)


def main():
    with trainyard.init() as ctx:
        trial, step = ctx.info.trial_id, 0
        latest = ctx.info.latest_checkpoint
        if latest is not None:
            step = int(ctx.checkpoint.get_metadata(latest)["steps_completed"])
            with ctx.checkpoint.restore_path(latest) as path:
                compare(path, trial, step)
        print(f"starts at {step} as pid {os.getpid()}", flush=True)
        while True:
            # Checked before the step, so that the last step is stored.
            ends = STOP.exists()
            time.sleep(STEP_SECONDS)
            step += 1
            ctx.train.report_validation_metrics(step, {"loss": 1.0 / step})
            with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                for name, content in contents(trial, step):
                    (path / name).parent.mkdir(exist_ok=True)
                    (path / name).write_bytes(content)
            print(f"stored {step}", flush=True)
            if ends or ctx.preempt.should_preempt():
                return


main()
