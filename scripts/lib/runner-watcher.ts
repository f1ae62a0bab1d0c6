/**
 * The watcher process of `endWithRunner`. It waits for the end of its standard input, then kills every process with the
 * mark, and deletes the folders.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import {
  allProcesses,
  identityOf,
  isAlive,
  type ProcessIdentity,
  signal,
} from "@trainyard/local-cluster/process-identity";

/** Time for processes to exit after SIGTERM: PostgreSQL releases its shared memory then. */
const graceMs = 3_000;
const killMs = 20_000;
const lookMs = 50;
/** One listing may miss a process that is just forking; three in a row do not. */
const looksToBeSure = 3;

const [mark = "", ...folders] = process.argv.slice(2);
// The terminal may close with the runner, and its SIGHUP must not kill the watcher.
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
  // SIGKILL goes to processes that started during the grace time or ignored SIGTERM.
  for (let empty = 0; empty < looksToBeSure && performance.now() - startMs < killMs; ) {
    const left = members();
    for (const member of left) signal(member, "SIGKILL");
    empty = left.length === 0 ? empty + 1 : 0;
    await delay(lookMs);
  }
  // A process without the mark may still write there, and end soon.
  const patient = { recursive: true, force: true, maxRetries: 10, retryDelay: lookMs };
  for (const folder of folders) {
    unmountBelow(folder);
    rmSync(folder, patient);
  }
}

/** Unmounts the file systems that tests of full disks and of containers have mounted; they cannot be deleted. */
function unmountBelow(folder: string): void {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const points = mounts.map((line) => line.split(" ")[1] ?? "");
  for (const point of points.filter((path) => path.startsWith(`${folder}/`)).toReversed()) {
    spawnSync("umount", ["--lazy", point], { stdio: "ignore" });
  }
}
