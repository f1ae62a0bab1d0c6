/**
 * One of the processes that write to one log, started by `ten-processes.ts` with connection string, callers and
 * milliseconds. It prints "ready", waits for a line, writes, and prints the number of its commits.
 */
import { once } from "node:events";
import { createPostgresLog } from "@trainyard/event-log";
import { appendOurs } from "../support/append.ts";
import { callsPerSecond } from "../support/measure.ts";
import { Streams } from "../support/payload.ts";

const [connectionString = "", callers = "8", forMs = "1000"] = process.argv.slice(2);
await using log = createPostgresLog({ connectionString });
const streams = new Streams();
// The first append opens the connections.
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
