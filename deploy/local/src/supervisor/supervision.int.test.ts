import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Home } from "../home/home.ts";
import { supervisorLock } from "../home/supervisor-files.ts";
import { backoffMs, RestartedProcess, type ProcessState } from "../processes/restarted-process.ts";
import { isRunning, launch } from "../processes/launch.ts";
import { tryLock } from "../processes/lock.ts";
import { boundLog, lastLines } from "../processes/log-files.ts";
import { identityOf, isAlive } from "../processes/process-identity.ts";
import type { ProcessPlan } from "../processes/process-plan.ts";
import { temporaryHome } from "../testing/homes.ts";
import { waitUntil } from "../processes/wait.ts";

test("the wait before a restart grows from 0.2 s to 5 s", () => {
  expect([1, 2, 3, 4, 5, 6, 50].map(backoffMs)).toEqual([
    200, 400, 800, 1_600, 3_200, 5_000, 5_000,
  ]);
});

function plan(
  home: { logs: string },
  script: string,
  changed: Partial<ProcessPlan> = {},
): ProcessPlan {
  return {
    name: "shell",
    kind: "service",
    log: join(home.logs, "shell.log"),
    command: () => ({
      program: "/bin/sh",
      parameters: ["-c", script],
      environment: { PATH: "/usr/bin:/bin" },
      folder: "/",
      user: null,
    }),
    stopSignal: "SIGTERM",
    stopLimitMs: 300,
    problem: async () => null,
    ...changed,
  };
}

function kept(home: Home, what: ProcessPlan) {
  const lock = tryLock(supervisorLock(home));
  if (lock === null) throw new Error("the lock is held");
  const events: string[] = [];
  const process = new RestartedProcess(what, {
    lock,
    restart: true,
    onChange: (_, event) => events.push(event),
  });
  return { process, events };
}

async function reaches(process: RestartedProcess, state: ProcessState): Promise<void> {
  const reached = await waitUntil(() => process.state === state, 90_000);
  if (!reached) throw new Error(`it is ${process.state} and not ${state}`);
}

test("a process that ends at once is restarted with growing delays until it is stopped", async () => {
  using home = temporaryHome();
  const { process, events } = kept(home, plan(home, "echo once more; exit 1"));
  process.start();
  expect(await waitUntil(() => process.deathsInARow >= 3, 90_000)).toBe(true);
  await process.stop();
  expect(process.state).toBe("stopped");
  expect(events.filter((event) => event === "died").length).toBeGreaterThanOrEqual(3);
  expect(readFileSync(process.plan.log, "utf8")).toMatch(/^(once more\n){3,}$/);
});

test("a process that is not ready any more is not restarted", async () => {
  using home = temporaryHome();
  let problem: string | null = null;
  const script = "while :; do echo lives; sleep 0.02; done";
  const what = plan(home, script, { problem: async () => problem });
  const { process, events } = kept(home, what);
  process.start();
  await reaches(process, "running");
  const { pid } = process;
  problem = "the database has been away for 10 s";
  const size = statSync(what.log).size;
  expect(await waitUntil(() => statSync(what.log).size > size + 200, 90_000)).toBe(true);
  expect({ pid: process.pid, state: process.state }).toEqual({ pid, state: "running" });
  expect(events).toEqual(["started", "ready"]);
  await process.stop();
});

test("a missing program is reported as a problem, and no error is thrown", async () => {
  using home = temporaryHome();
  const command = { ...plan(home, "").command(), program: "/no/such/program" };
  const { process, events } = kept(home, plan(home, "", { command: () => command }));
  process.start();
  await reaches(process, "waiting");
  expect(events).toContain("could not be started");
  await process.stop();
});

test("a process that ignores SIGTERM is killed after its time limit", async () => {
  using home = temporaryHome();
  const { process, events } = kept(
    home,
    plan(home, "trap '' TERM; echo ignores; while :; do sleep 0.05; done"),
  );
  process.start();
  await reaches(process, "running");
  // Before the process has written this line, the signal would still end it.
  await vi.waitFor(
    () => expect(readFileSync(process.plan.log, "utf8")).toContain("ignores"),
    90_000,
  );
  const identity = identityOf(process.pid ?? 0);
  if (identity === null) throw new Error("it does not run");
  await process.stop();
  expect(isAlive(identity)).toBe(false);
  expect(events).toContain("did not end in time and is killed");
});

test("a log that grew too large is copied once and emptied while its writer continues", async () => {
  using home = temporaryHome();
  const what = plan(home, "while :; do echo 0123456789; sleep 0.01; done");
  const child = await launch(what.command(), what.log);
  expect(await waitUntil(() => statSync(what.log).size > 200, 90_000)).toBe(true);
  boundLog(what.log, 200);
  expect(statSync(`${what.log}.1`).size).toBeGreaterThan(200);
  expect(await waitUntil(() => statSync(what.log).size > 0, 90_000)).toBe(true);
  child.kill("SIGKILL");
  if (isRunning(child)) await once(child, "exit");
  // The writer appends, so the emptied file has no zero bytes before its first line.
  expect(readFileSync(what.log, "utf8")).toMatch(/^(0123456789\n)+$/);
  expect(statSync(what.log).mode & 0o777).toBe(0o600);
});

test("lastLines returns the last lines of a log", () => {
  using home = temporaryHome();
  const log = join(home.logs, "some.log");
  expect(lastLines(log)).toEqual([]);
  writeFileSync(log, Array.from({ length: 100 }, (_, n) => `line ${n}\n`).join(""));
  expect(lastLines(log, 2)).toEqual(["line 98", "line 99"]);
});
