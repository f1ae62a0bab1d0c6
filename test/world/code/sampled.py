"""Runs for a second to be sampled, in any process of its node."""

import time

import trainyard

with trainyard.init() as ctx:
    time.sleep(1.3)
    print(f"node {ctx.info.rank} samples: {ctx.profiler.is_on}", flush=True)
