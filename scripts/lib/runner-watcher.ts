/** Started by `endWithRunner`. Waits until its standard input ends, then ends every process that has the mark. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import {
  allProcesses,
  identityOf,
  isAlive,
  type ProcessIdentity,
  signal,
} from "@trainyard/local-cluster/process-identity";

/** Time to leave in order: PostgreSQL then gives its shared memory back. */
const graceMs = 3_000;
const killMs = 20_000;
const lookMs = 50;
/** One look may miss what forks in that moment; three in a row do not. */
const looksToBeSure = 3;

const mark = process.argv[2] ?? "";
// The terminal may go away with the runner.
process.on("SIGHUP", () => {});
process.stdin.resume();
process.stdin.on("error", () => {});
process.stdin.once("close", () => void endAll());

function members(): readonly ProcessIdentity[] {
  return allProcesses()
    .filter((one) => one.environment.includes(mark))
    .flatMap((one) => identityOf(one.pid) ?? []);
}

async function endAll(): Promise<void> {
  const found = members();
  for (const member of found) signal(member, "SIGTERM");
  const startMs = performance.now();
  while (performance.now() - startMs < graceMs && found.some(isAlive)) await delay(lookMs);
  // Processes that a member started before it ended, or that ignore SIGTERM.
  for (let empty = 0; empty < looksToBeSure && performance.now() - startMs < killMs; ) {
    const left = members();
    for (const member of left) signal(member, "SIGKILL");
    empty = left.length === 0 ? empty + 1 : 0;
    await delay(lookMs);
  }
}
