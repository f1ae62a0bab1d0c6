"""Does nothing but be sampled for a second, in whichever process of its node this is."""

import time

import trainyard

with trainyard.init() as ctx:
    time.sleep(1.3)
    print(f"node {ctx.info.rank} samples: {ctx.profiler.is_on}", flush=True)
