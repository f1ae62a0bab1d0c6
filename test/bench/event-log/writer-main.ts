/**
 * One of several processes that write to one log, which `ten-processes.ts` starts: connection string, callers,
 * milliseconds. Says "ready", waits for a line, writes, and says how many commits went through.
 */
import { once } from "node:events";
import { createPostgresLog } from "@trainyard/event-log";
import { appendOurs } from "../support/append.ts";
import { callsPerSecond } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";

const [connectionString = "", callers = "8", forMs = "1000"] = process.argv.slice(2);
await using log = createPostgresLog({ connectionString });
const streams = new Streams();
// The first append connects.
await appendOurs(log, streams, Number(callers));
process.stdout.write("ready\n");
await once(process.stdin, "data");
let commits = 0;
await callsPerSecond(Number(callers), Number(forMs), async (caller) => {
  await appendOurs(log, streams, caller);
  commits += 1;
});
process.stdout.write(`${commits}\n`);
process.stdin.destroy();
