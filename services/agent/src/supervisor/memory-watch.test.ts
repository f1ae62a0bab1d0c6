import { expect, test } from "vitest";
import { counterOf } from "./memory-watch.ts";

const v1Mounts = `30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw`;
const v2Mounts = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";

test("on a hybrid host kills are counted in the older hierarchy, which limits the memory", () => {
  const membership =
    "9:cpu,cpuacct:/x\n4:memory:/libpod_parent/libpod-1\n0::/libpod_parent/libpod-1\n";
  expect(counterOf(membership, v1Mounts)).toBe(
    "/sys/fs/cgroup/memory/libpod_parent/libpod-1/memory.oom_control",
  );
});

test("with cgroup v2 alone kills are counted in memory.events", () => {
  expect(counterOf("0::/machine.slice/libpod-1.scope\n", v2Mounts)).toBe(
    "/sys/fs/cgroup/machine.slice/libpod-1.scope/memory.events",
  );
});

test("without a cgroup no kills are counted", () => {
  expect(counterOf("", v2Mounts)).toBeNull();
  expect(counterOf("4:memory:/a\n", "")).toBeNull();
});
