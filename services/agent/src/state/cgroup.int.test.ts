import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { notRun } from "@trainyard/testing/needs";
import { expect, test, vi } from "vitest";
import { holdingHere } from "../supervisor/python.ts";
import { cgroupOf } from "./cgroup.ts";

vi.setConfig({ testTimeout: 30_000 });
const patient = { timeout: 90_000, interval: 50 };
const noCgroup = holdingHere().cgroup;

/** Evaluates an expression with the functions of processes.py. */
function inPython<T>(expression: string, ...values: readonly string[]): T {
  const folder = join(import.meta.dirname, "../supervisor");
  const program = `import json, sys; sys.path.insert(0, ${JSON.stringify(folder)}); from processes import *; print(json.dumps(${expression}))`;
  const said = execFileSync("python3", ["-B", "-c", program, ...values], { encoding: "utf8" });
  return JSON.parse(said) as T;
}

const cgroupsIn = (mountinfo: string, membership: string) =>
  inPython<readonly string[]>("cgroups_in(*sys.argv[1:])", mountinfo, membership);

test("a cgroup with only a zombie left is over, and is removed", async ({ skip }) => {
  if (noCgroup !== null) notRun(skip, noCgroup);
  const path = inPython<string>("make_leaf(own_cgroups(), sys.argv[1])", `/test-${process.pid}`);
  const code = [
    "import os, sys, time",
    "pid = os.fork()",
    `if pid == 0: open("${path}/cgroup.procs", "w").write(str(os.getpid())); print(os.getpid(), flush=True); sys.stdin.read(); os._exit(0)`,
    "time.sleep(1000)",
  ].join("\n");
  const keeper = spawn("python3", ["-S", "-E", "-c", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const [said] = (await once(keeper.stdout, "data")) as [Buffer];
    const cgroup = cgroupOf(path);
    expect(cgroup.members().map(({ pid }) => pid)).toEqual([Number(said.toString())]);
    // On a kernel without cgroup.kill, each process gets the signal.
    expect(cgroupOf(path, false).signal("SIGKILL")).toBe(true);
    await vi.waitFor(() => expect(cgroup.isPopulated()).toBe(false), patient);
    expect(readFileSync(`/proc/${said.toString().trim()}/stat`, "utf8")).toContain(" Z ");
    expect([cgroup.members(), cgroup.signal("SIGKILL")]).toEqual([[], false]);
    cgroup.remove();
    expect(existsSync(path)).toBe(false);
  } finally {
    keeper.kill("SIGKILL");
    cgroupOf(path).remove();
  }
});

test("the mount point of the cgroup hierarchy is read from the kernel's tables", () => {
  const unified = "25 30 0:23 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
  const hybrid = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";
  const older = "33 31 0:30 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory";
  const bound = "50 31 0:38 /pod/a /mnt/c\\040group rw shared:7 - cgroup2 cgroup2 rw";
  const tables = [older, unified, hybrid, bound].join("\n");
  expect(cgroupsIn(tables, "5:memory:/x\n0::/pod/a/agent\n")).toEqual([
    "/sys/fs/cgroup/pod/a/agent",
    "/sys/fs/cgroup/unified/pod/a/agent",
    "/mnt/c group/agent",
  ]);
  expect(cgroupsIn(tables, "0::/\n")).toEqual(["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]);
  expect(cgroupsIn(bound, "0::/pod/a\n")).toEqual(["/mnt/c group"]);
  expect(cgroupsIn(older, "0::/\n")).toEqual([]);
  expect(cgroupsIn(tables, "5:memory:/x\n")).toEqual([]);
});
