// Prepares the database of a cluster, or with --verify FILE compares its log with an anchor. Exit code 0: the database
// is up to date, or the log holds. 1: it failed. 2: the settings are wrong. 3: the log does not hold.
import { resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { systemClock } from "@trainyard/kernel/system-clock";
import { onceAnswered, readEnvironment } from "@trainyard/runtime";
import { reasonOf } from "@trainyard/runtime/failed-start";
import { type MigrateConfig, parseConfig } from "./config.ts";
import { type DatabaseOptions, prepareDatabase } from "./database.ts";
import { readAnchorFile, verifyLog } from "./verify.ts";

async function main(): Promise<number> {
  let options: MigrateConfig;
  let verify: (() => Promise<number>) | null;
  try {
    const environment = readEnvironment();
    options = parseConfig(environment);
    verify = verification(options, environment["TRAINYARD_CALLER_DIR"] ?? "");
  } catch (error) {
    return failed(2, reasonOf(error));
  }
  try {
    return await onceThere(options.waitMs, verify ?? (() => prepare(options)));
  } catch (error) {
    const { host } = new URL(options.adminUrl);
    const reason = reasonOf(error);
    return failed(
      1,
      isOfNetwork(error) ? `PostgreSQL at ${host} does not answer (${reason})` : reason,
    );
  }
}

/** Errors of a connection name the call of the system that failed, and not what it was for. */
function isOfNetwork(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isOfNetwork);
  return error instanceof Error && "syscall" in error;
}

/** Takes the step, again as long as PostgreSQL is away or starting, until the wait is over. */
function onceThere(waitMs: number, step: () => Promise<number>): Promise<number> {
  const told = new Set<string>();
  const signal = AbortSignal.timeout(waitMs);
  const waiting = { clock: systemClock, signal, logger: { warn: () => {} } };
  return onceAnswered(waiting, step, async (why) => {
    if (told.has(why)) return;
    told.add(why);
    process.stderr.write(`migrate: waits for PostgreSQL, up to ${waitMs / 1_000} s (${why})\n`);
  });
}

/** Returns the verification that the arguments ask for; null for none. The file is relative to the caller's folder. */
function verification(
  { adminUrl }: DatabaseOptions,
  callerFolder: string,
): (() => Promise<number>) | null {
  const { values } = parseArgs({
    options: { verify: { type: "string" } },
    // The script that starts services passes its own argument, the name of this program.
    allowPositionals: true,
  });
  if (values.verify === undefined) return null;
  const anchor = readAnchorFile(resolve(callerFolder, values.verify));
  return async () => {
    const { holds, lines } = await verifyLog(adminUrl, anchor);
    for (const line of lines) process.stdout.write(`${line}\n`);
    return holds ? 0 : 3;
  };
}

async function prepare(options: DatabaseOptions): Promise<number> {
  const { database, created, logVersion } = await prepareDatabase(options);
  for (const what of created) process.stdout.write(`created ${what}\n`);
  process.stdout.write(`database ${database} is up to date, its log is at version ${logVersion}\n`);
  return 0;
}

function failed(code: number, reason: string): number {
  process.stderr.write(`migrate: ${reason}\n`);
  return code;
}

process.exitCode = await main();
