// Prepares the database of a cluster: exit code 0 when it is up to date, 1 when that failed, 2 for wrong settings.
import process from "node:process";
import { parseConfig, readEnv } from "./config.ts";
import { type DatabaseOptions, prepareDatabase } from "./database.ts";

async function main(): Promise<number> {
  let options: DatabaseOptions;
  try {
    options = parseConfig(readEnv());
  } catch (error) {
    return failed(2, error);
  }
  try {
    const { database, created, logVersion } = await prepareDatabase(options);
    for (const what of created) process.stdout.write(`created ${what}\n`);
    process.stdout.write(
      `database ${database} is up to date, its log is at version ${logVersion}\n`,
    );
    return 0;
  } catch (error) {
    return failed(1, error);
  }
}

function failed(code: number, error: unknown): number {
  process.stderr.write(`migrate: ${reasonOf(error)}\n`);
  return code;
}

/** A host name with several addresses fails once for each of them, in an error that says nothing itself. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

process.exitCode = await main();
