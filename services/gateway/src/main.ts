// Runs the gateway, or with arguments a command of its operators:
//   reset-admin NAME          makes a person an admin with a new password, and prints it
//   copy-blobs --from FOLDER  copies a folder of blobs to the object store of TRAINYARD_BLOB_STORAGE
// The exit code of a command: 0 for done, 1 if it failed, 2 for wrong settings or arguments.
import process from "node:process";
import { createLogger, openLog, openPool, readEnvironment, runMain } from "@trainyard/runtime";
import { exitCodeOf, reasonOf } from "@trainyard/runtime/failed-start";
import { isRejection } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { parseConfig } from "./config.ts";
import { resetAdmin } from "./people/reset-admin.ts";
import { createService } from "./service.ts";
import { copiedFolder, copyFolder, copyUsage } from "./spaces/copy-blobs.ts";

type Command = (given: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, Command>> = {
  async "reset-admin"([name, ...more]) {
    if (name === undefined || more.length > 0) return failed(2, "usage: reset-admin NAME");
    const config = parseConfig(readEnvironment());
    await using stack = new AsyncDisposableStack();
    const log = stack.use(openLog(config, "gateway"));
    const logger = createLogger("gateway", "silent");
    const pool = stack.adopt(openPool(config, "gateway", logger), (opened) => opened.end());
    const done = await resetAdmin({ pool, log }, name);
    if (isRejection(done)) return failed(1, done.detail);
    say(`${name} is enabled and a cluster admin, with the password ${done.password}`);
    return 0;
  },

  async "copy-blobs"(given) {
    const folder = copiedFolder(given);
    if (folder === null) return failed(2, copyUsage);
    const deps = { environment: readEnvironment(), clock: systemClock, say };
    return (await copyFolder(folder, deps)) ? 0 : 1;
  },
};

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function failed(code: number, why: string): number {
  process.stderr.write(`gateway: ${why}\n`);
  return code;
}

// The script that starts services passes its own argument, the name of this program.
const [name = "", ...given] = process.argv.slice(2).filter((argument) => argument !== "gateway");
const command = commands[name];
if (command === undefined) await runMain(() => createService(parseConfig(readEnvironment())));
else
  process.exitCode = await command(given).catch((error: unknown) =>
    failed(exitCodeOf(error), reasonOf(error)),
  );
