/**
 * Builds the pages into `.cache/web/<digest of their sources>` of the checkout. The folder appears complete, by a
 * rename, and never changes afterwards, so any process may serve it. Of several concurrent processes one builds, and
 * the others wait for its build.
 */
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { errorText } from "../cluster-error.ts";
import { limits } from "../limits.ts";
import { endsWithInput } from "../processes/ends-with-input.ts";
import { inheritedEnvironment } from "../processes/inherited-environment.ts";
import { waitForLock } from "../processes/lock.ts";
import { webDigest, webPackage } from "./sources.ts";

export type WebBuild = {
  readonly checkout: string;
  readonly digest: string;
  /** The folder of the built pages, which may not exist yet. */
  readonly folder: string;
};

/** The build of the present sources; null where the checkout has no pages. */
export function webBuild(checkout: string): WebBuild | null {
  const digest = webDigest(checkout);
  if (digest === null) return null;
  return { checkout, digest, folder: join(checkout, ".cache", "web", digest) };
}

/** Resolves once the folder exists; rejects with a sentence when the build fails, or when the signal aborts. */
export async function buildWeb(
  build: WebBuild,
  logFile: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const cache = join(build.checkout, ".cache", "web");
  mkdirSync(cache, { recursive: true });
  if (existsSync(build.folder)) return markUsed(build.folder);
  const file = join(cache, `lock-${build.digest}`);
  using lock = await waitForLock(file, limits.webBuildMs, signal);
  if (existsSync(build.folder)) return markUsed(build.folder);
  if (lock === null) {
    throw new Error("The Web UI was not built in time by the process that began to build it.");
  }
  const made = join(cache, `building-${build.digest}-${process.pid}`);
  try {
    await vite(build, made, logFile, signal);
    renameSync(made, build.folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  removeOld(cache);
}

/**
 * Vite runs with a low priority, since the cluster starts at the same time, and without a terminal. It ends with this
 * process.
 */
function vite(
  { checkout }: WebBuild,
  outDir: string,
  logFile: string,
  signal: AbortSignal,
): Promise<void> {
  const folder = join(checkout, webPackage);
  const main = join(folder, "node_modules", "vite", "bin", "vite.js");
  const { program, parameters } = endsWithInput(
    {
      program: process.execPath,
      parameters: [main, "build", "--outDir", outDir, "--emptyOutDir", "--logLevel", "warn"],
    },
    "TERM",
    limits.killedMs,
  );
  const log = openSync(logFile, "a", 0o600);
  const mark = process.env["TY_TEST_RUN"];
  const child = spawn(program, parameters, {
    cwd: folder,
    env: {
      ...(mark === undefined ? {} : { TY_TEST_RUN: mark }),
      ...inheritedEnvironment(process.env, new Set()),
      // Vite keeps a NODE_ENV that is set. React's development build is a third larger and does twice the work.
      NODE_ENV: "production",
    },
    stdio: ["pipe", log, log],
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.webBuildMs)]),
  });
  closeSync(log);
  if (child.pid !== undefined) lowerPriority(child.pid);
  return new Promise((resolve, reject) => {
    const failed = (why: string): void =>
      reject(new Error(`The Web UI could not be built (${why}): see ${logFile}.`));
    child.on("error", (error) => failed(errorText(error)));
    child.on("exit", (code, ended) => (code === 0 ? resolve() : failed(`vite: ${code ?? ended}`)));
  });
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, 10);
  } catch {
    // The build has ended already.
  }
}

function markUsed(folder: string): void {
  const now = new Date(systemClock.nowMs());
  utimesSync(folder, now, now);
}

/** Removes builds that no start has used for a week, and the files of killed builds. */
function removeOld(cache: string): void {
  const oldestMs = systemClock.nowMs() - limits.webBuildKeptMs;
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (statSync(path).mtimeMs < oldestMs) rmSync(path, { recursive: true, force: true });
  }
}
