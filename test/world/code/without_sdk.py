"""Works until it is asked to stop, saves its state, and finishes in the run that finds it. It does not use the SDK."""

import os
import signal
import sys
import time

saved = os.environ["SAVED"]
if os.path.exists(saved):
    print("found its state")
    sys.exit(0)


def save(*_):
    with open(saved, "w") as file:
        file.write("state")
    sys.exit(0)


signal.signal(signal.SIGTERM, save)
print("works", flush=True)
while True:
    time.sleep(0.05)
