/**
 * The supervisor, which owns a cluster: started detached by `clusterUp`, it ends on "down" from its control socket or
 * by SIGTERM. After a SIGKILL its processes end by themselves, except the runs, which the next agents adopt.
 */
import { rmSync } from "node:fs";
import { writeJson } from "../home/atomic-file.ts";
import { ClusterError, errorText } from "../cluster-error.ts";
import { ask, serveControl } from "../control.ts";
import { homeAt, prepareHome } from "../home/home.ts";
import { settleHome } from "../home-path.ts";
import { limits } from "../limits.ts";
import { type Lock, tryLock } from "../processes/lock.ts";
import { identityOf } from "../processes/process-identity.ts";
import { waitUntil } from "../processes/wait.ts";
import { parseOptionArguments } from "../options.ts";
import { RunningCluster } from "./running-cluster.ts";
import { failureFile, supervisorFile, supervisorLock } from "../home/supervisor-files.ts";
import { writeLog } from "./log.ts";

const { home: folder, options } = parseOptionArguments(process.argv.slice(2));
const home = homeAt(folder);

async function main(): Promise<void> {
  prepareHome(home);
  const lock = await takeLock();
  if (lock === null) {
    // A concurrent start was faster; the caller finds the socket of its supervisor.
    writeLog("info", "another supervisor holds this home");
    return;
  }
  writeJson(supervisorFile(home), identityOf(process.pid));
  rmSync(failureFile(home), { force: true });
  settleHome(home, options.arrival);
  const cluster = new RunningCluster(home, options, lock, writeLog);
  let ended: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const control = await serveControl(home, async (request) => {
    if (request.verb === "restart") await cluster.restart(request.name);
    if (request.verb === "down") ended();
    return cluster.status;
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, ended);
  // The supervisor survives the end of its terminal.
  process.on("SIGHUP", () => {});
  try {
    const up = cluster.up();
    await Promise.race([end, up.then(() => end)]);
    await cluster.down();
  } catch (error) {
    await cluster.giveUp(error);
    throw error;
  } finally {
    // The lock is not released here, so that it is held until this process has really ended.
    await control[Symbol.asyncDispose]();
  }
}

/** Waits until no process of a killed supervisor is left; null if another supervisor serves the home. */
async function takeLock(): Promise<Lock | null> {
  const path = supervisorLock(home);
  let lock: Lock | null = null;
  const isDecided = await waitUntil(async () => {
    lock = tryLock(path);
    return lock !== null || (await ask(home, { verb: "status" })) !== null;
  }, limits.orphansMs);
  if (isDecided) return lock;
  throw new ClusterError(
    "orphans",
    `Processes of an earlier start of this cluster have not ended in ${limits.orphansMs / 1000} s: "lsof ${path}" lists them.`,
  );
}

try {
  await main();
} catch (error) {
  writeLog("error", errorText(error), { stack: error instanceof Error ? error.stack : undefined });
  const code = error instanceof ClusterError ? error.code : "failed";
  writeJson(failureFile(home), { code, sentence: errorText(error) });
  process.exitCode = 1;
}
