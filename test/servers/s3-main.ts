/**
 * The S3 server for tests in a process of its own, which ends with its input. Prints its address as JSON, and reads
 * failures as lines of JSON (`FailureRule`).
 *
 *     node test/servers/s3-main.ts BUCKET [--discard] [--port N]
 */
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type FailureRule, S3Server, testUser } from "@trainyard/testing/s3";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { discard: { type: "boolean" }, port: { type: "string" } },
});
await using server = await S3Server.start({
  buckets: positionals,
  discardsContent: values.discard === true,
  port: Number(values.port ?? 0),
});
process.stdout.write(`${JSON.stringify({ url: server.url, ...testUser })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() !== "") server.failures.add(JSON.parse(line) as FailureRule);
}
