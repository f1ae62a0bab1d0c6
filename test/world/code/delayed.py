"""Reports and stores a checkpoint at each of two steps, the second one when a file appears. At another file it
reports a last step that it does not send, and exits: its agent delivers the report.
"""

import os
import pathlib
import time
from unittest import mock

import trainyard
from trainyard._http import HttpConnection

GO, LEAVE = pathlib.Path(os.environ["GO"]), pathlib.Path(os.environ["LEAVE"])


def wait_for(file):
    while not file.exists():
        time.sleep(0.05)


def send_nothing(*_args, **_kwargs):
    time.sleep(60)


with trainyard.init() as ctx:
    for step in (1, 2):
        ctx.train.report_validation_metrics(step, {"loss": 1.0 / step})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
            (path / "state").write_text(f"step {step}")
        print(f"step {step}", flush=True)
        wait_for(GO if step == 1 else LEAVE)
    mock.patch.object(HttpConnection, "request", send_nothing).start()
    ctx.train.report_validation_metrics(3, {"loss": 0.3})
    os._exit(0)
