/** Processes of tests end with their runner, even when the runner is killed and cannot clean up. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  allProcesses,
  identityOf,
  isAlive,
  type ProcessIdentity,
  signal,
} from "@trainyard/local-cluster/process-identity";
import { expect, test } from "vitest";
import { eventually } from "./eventually.ts";
import type { Running } from "./runner-main.ts";

/** The watcher's grace of 3 s, and the time of a busy machine. */
const endsWithinMs = 90_000;

const marked = (mark: string): readonly ProcessIdentity[] =>
  allProcesses()
    .filter((one) => one.environment.includes(`TY_TEST_RUN=${mark}`))
    .flatMap((one) => identityOf(one.pid) ?? []);

test("after kill -9 of the test runner no process that it started is left, and no temporary file", async () => {
  const runner = spawn(process.execPath, [join(import.meta.dirname, "runner-main.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(runner, "exit");
  const [line] = (await once(createInterface(runner.stdout), "line")) as [string];
  const running = JSON.parse(line) as Running;
  const named = Object.entries(running.pids).map(([name, pid]) => [name, identityOf(pid)] as const);
  const started = new Map<number, ProcessIdentity>();
  for (const one of [...marked(running.mark), ...named.map(([, identity]) => identity)]) {
    if (one !== null) started.set(one.pid, one);
  }
  try {
    expect(named.filter(([, identity]) => identity === null)).toEqual([]);
    // The supervisor, PostgreSQL, NATS, services, the agent, the trial's supervisor, parent and process, and two
    // servers of tests.
    expect(started.size).toBeGreaterThan(9);
    expect(running.temporary).not.toBe(tmpdir());
    expect(readdirSync(running.temporary)).not.toEqual([]);
    runner.kill("SIGKILL");
    await exit;
    await eventually(
      "every process of the runner is gone",
      async () => ![...started.values()].some(isAlive) && marked(running.mark).length === 0,
      endsWithinMs,
    );
    await eventually(
      "the temporary files of the runner are gone",
      async () => !existsSync(running.temporary),
      endsWithinMs,
    );
  } finally {
    for (const one of started.values()) signal(one, "SIGKILL");
    rmSync(running.temporary, { recursive: true, force: true });
  }
});
