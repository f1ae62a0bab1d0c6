// Prepares the database of a cluster. Exit code 0: it is up to date. 1: the preparation failed. 2: the settings are
// wrong.
import process from "node:process";
import { readEnvironment } from "@trainyard/runtime";
import { reasonOf } from "@trainyard/runtime/failed-start";
import { parseConfig } from "./config.ts";
import { type DatabaseOptions, prepareDatabase } from "./database.ts";

async function main(): Promise<number> {
  let options: DatabaseOptions;
  try {
    options = parseConfig(readEnvironment());
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

process.exitCode = await main();
