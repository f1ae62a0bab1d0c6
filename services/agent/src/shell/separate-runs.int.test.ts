/** Runs that leave nothing behind and take nothing from others, started by the process that forks supervisors. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { notRun } from "@trainyard/testing/needs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ProcessOrder } from "../runtime/start-order.ts";
import { names } from "../state/layout.ts";
import { OutputReader } from "../state/output-reader.ts";
import { RunFolder } from "../state/run-folder.ts";
import { holdingHere } from "../supervisor/python.ts";
import { ownVariables } from "../testing/agent-config.ts";
import { launchOf } from "../testing/examples.ts";
import { Starter } from "./supervisors.ts";

vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 40_000, interval: 50 };
const here = holdingHere();
/** Root of a container often lacks this capability, which has the number 24. */
const capabilities = /^CapEff:\t([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
const mayProtect = ((BigInt(`0x${capabilities ?? "0"}`) >> 24n) & 1n) === 1n;
const shm = 64 * 1024 ** 2;
const limits = { memory: 64 * 1024 ** 2, pids: 64 };

let runs = "";
let starter: Starter;
// A state folder below /tmp would keep the host's /tmp.
beforeEach(() => {
  runs = mkdtempSync("/var/tmp/trainyard-separate-");
  starter = new Starter(runs, ownVariables());
});
afterEach(() => {
  starter[Symbol.dispose]();
  rmSync(runs, { recursive: true, force: true });
});

function start(script: string, more: Partial<ProcessOrder> = {}): RunFolder {
  const folder = RunFolder.create(runs, launchOf("unused"), systemClock);
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", TRAINYARD_RUN_DIR: folder.runDir };
  const argv = ["sh", "-c", script];
  const order = { argv, environment, work: folder.newWork(), mechanism: "auto" as const, ...more };
  starter.start(folder.path, () => {}).order(order);
  return folder;
}

/** The line that a run's end adds about files in its own /tmp. */
const removed = (count: number, bytes: number, first: string): string =>
  `the run's own /tmp is removed with ${count} files of ${bytes} bytes, such as /tmp/${first}: keep what must last in checkpoints or in the storage`;

const linesOf = (folder: RunFolder) =>
  new OutputReader(folder.path)
    .read({ lines: 100, bytes: 100_000, lineOverheadBytes: 0 })
    .lines.map(({ text }) => text);

const ended = (folder: RunFolder) => vi.waitFor(() => expect(folder.exit).not.toBeNull(), patient);

test("the /dev/shm and /tmp of a killed run are gone, and no other run saw them", async ({
  skip,
}) => {
  if (here.folders !== null) notRun(skip, here.folders);
  const mark = `trainyard-${basename(runs)}`;
  const write = `dd if=/dev/zero of=/dev/shm/${mark} bs=1M count=8 2>/dev/null; echo here > /tmp/x`;
  const child = `sh -c "ls /dev/shm /tmp"`;
  const folder = start(`${write}; ${child}; echo up; exec sleep 1000`, {
    own: { shm, tmp: join(runs, "own-tmp") },
  });
  await vi.waitFor(() => expect(linesOf(folder)).toContain("up"), patient);
  expect(linesOf(folder)).toEqual(["/dev/shm:", mark, "", "/tmp:", "x", "up"]);
  expect(readFileSync(join(runs, "own-tmp", "x"), "utf8")).toBe("here\n");
  const look =
    "echo $(df --output=size -B1 /dev/shm | tail -1); stat -c %a /tmp; ls /dev/shm /tmp; exit 3";
  const other = start(look, { own: { shm, tmp: join(runs, "private", "tmp") } });
  await ended(other);
  const seen = [String(shm), "1777", "/dev/shm:", "", "/tmp:"];
  expect([linesOf(other), other.exit?.code]).toEqual([seen, 3]);
  expect(statSync(join(runs, "private")).mode & 0o777).toBe(0o700);
  process.kill(folder.process?.pid ?? 0, "SIGKILL");
  await ended(folder);
  expect(existsSync(join("/dev/shm", mark))).toBe(false);
  expect(linesOf(folder).at(-1)).toBe(removed(1, 5, "x"));
  expect(readFileSync("/proc/mounts", "utf8")).not.toContain(runs);
});

test("a run that names a path below /tmp has its own /dev/shm, and the host's /tmp", async ({
  skip,
}) => {
  if (here.folders !== null) notRun(skip, here.folders);
  const path = mkdtempSync("/tmp/trainyard-shared-");
  try {
    const folder = start(`: > ${path}/seen; ls /dev/shm`, { own: { shm, tmp: null } });
    await ended(folder);
    expect([readdirSync(path), linesOf(folder)]).toEqual([["seen"], []]);
  } finally {
    rmSync(path, { recursive: true });
  }
});

test("supervisors are protected from the kernel's memory killer, and their runs are not", async ({
  skip,
}) => {
  if (!mayProtect) notRun(skip, "the right to lower oom_score_adj (CAP_SYS_RESOURCE)");
  const folder = start("cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj; exec sleep 1000");
  await vi.waitFor(() => expect(linesOf(folder)).toHaveLength(2), patient);
  const score = (pid = 0): string => readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim();
  expect([...linesOf(folder), score(folder.supervisor?.pid), score(starter.pid ?? 0)]).toEqual([
    "0",
    "-900",
    "-900",
    "-900",
  ]);
  process.kill(folder.process?.pid ?? 0, "SIGKILL");
  await ended(folder);
});

test("a run beyond its memory limit is killed as a whole, its supervisor records why, and another run continues", async ({
  skip,
}) => {
  const { cgroup } = holdingHere(limits);
  if (cgroup !== null) notRun(skip, cgroup);
  const other = start("echo up; exec sleep 1000", { limits });
  const greedy = `sleep 1000 & exec python3 -S -E -c "x = bytearray(256 * 1024 ** 2)"`;
  const folder = start(greedy, { limits });
  await ended(folder);
  expect(folder.exit).toMatchObject({
    signal: "SIGKILL",
    message: "ended by SIGKILL, because the run reached its memory limit of 64 MiB on this host",
  });
  expect(other.exit).toBeNull();
  process.kill(other.process?.pid ?? 0, "SIGKILL");
  await ended(other);
});

test("a run beyond its limit of processes cannot fork", async ({ skip }) => {
  const { cgroup } = holdingHere(limits);
  if (cgroup !== null) notRun(skip, cgroup);
  const bomb = "import os\nwhile True:\n    if os.fork() == 0: os.read(0, 1); os._exit(0)";
  const folder = start(`exec python3 -S -E -c '${bomb}'`, { limits });
  await ended(folder);
  expect(folder.exit?.message).toContain("Resource temporarily unavailable");
});

/** Evaluates an expression with the functions of processes.py. */
function inPython<T>(expression: string, ...values: readonly string[]): T {
  const folder = join(import.meta.dirname, "../supervisor");
  const program = `import json, sys; sys.path.insert(0, ${JSON.stringify(folder)}); from processes import *; print(json.dumps(${expression}))`;
  const said = execFileSync("python3", ["-B", "-c", program, ...values], { encoding: "utf8" });
  return JSON.parse(said) as T;
}

test("an agent's start removes the empty cgroups of its ended runs and of killed probes, and no others", async ({
  skip,
}) => {
  if (here.cgroup !== null) notRun(skip, here.cgroup);
  const leafOf = (path: string) => inPython<string>("make_leaf(own_cgroups(), sys.argv[1])", path);
  const running = RunFolder.create(runs, launchOf("unused"), systemClock);
  const over = join(runs, "over");
  mkdirSync(over);
  writeFileSync(join(over, names.exit), "{}");
  const left = [join(runs, "forgotten"), over, "/probe-4194999"].map(leafOf);
  const kept = [running.path, "/elsewhere/runs/1", `/probe-${process.pid}`].map(leafOf);
  try {
    using _next = new Starter(runs, ownVariables());
    await vi.waitFor(() => expect(left.filter((path) => existsSync(path))).toEqual([]), patient);
    expect(kept.filter((path) => !existsSync(path))).toEqual([]);
  } finally {
    for (const path of [...left, ...kept]) if (existsSync(path)) rmdirSync(path);
  }
});
