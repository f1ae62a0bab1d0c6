// Runs the gateway, or with the arguments reset-admin NAME makes a person an admin with a new password and prints it.
// Exit code of the latter: 0 for done, 1 if it failed, 2 for wrong settings or arguments.
import process from "node:process";
import { createLogger, openLog, openPool, readEnvironment, runMain } from "@trainyard/runtime";
import { exitCodeOf, reasonOf } from "@trainyard/runtime/failed-start";
import { isRejection } from "@trainyard/kernel";
import { parseConfig } from "./config.ts";
import { resetAdmin } from "./people/reset-admin.ts";
import { createService } from "./service.ts";

async function reset(name: string | undefined, more: readonly string[]): Promise<number> {
  if (name === undefined || more.length > 0) return failed(2, "usage: reset-admin NAME");
  try {
    const config = parseConfig(readEnvironment());
    await using stack = new AsyncDisposableStack();
    const log = stack.use(openLog(config, "gateway"));
    const logger = createLogger("gateway", "silent");
    const pool = stack.adopt(openPool(config, "gateway", logger), (opened) => opened.end());
    const done = await resetAdmin({ pool, log }, name);
    if (isRejection(done)) return failed(1, done.detail);
    const { password } = done;
    process.stdout.write(`${name} is enabled and a cluster admin, with the password ${password}\n`);
    return 0;
  } catch (error) {
    return failed(exitCodeOf(error), reasonOf(error));
  }
}

function failed(code: number, why: string): number {
  process.stderr.write(`gateway: ${why}\n`);
  return code;
}

// The script that starts services passes its own argument, the name of this program.
const [command, name, ...more] = process.argv.slice(2).filter((argument) => argument !== "gateway");
if (command === "reset-admin") process.exitCode = await reset(name, more);
else await runMain(() => createService(parseConfig(readEnvironment())));
