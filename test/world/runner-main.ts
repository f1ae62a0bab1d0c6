/**
 * A small test runner: mounts a file system if it may, starts a world with a trial, a PostgreSQL, a NATS, and an agent
 * in this process with a run, prints their processes, and waits to be killed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startNats } from "@trainyard/bus/testing";
import { startSleepingRun } from "@trainyard/service-agent/testing/sleeping-run";
import { startTestPostgres } from "@trainyard/testing";
import { setup } from "../../scripts/lib/end-with-runner.ts";
import { eventually } from "./eventually.ts";
import { World } from "./world.ts";

export type Running = {
  readonly mark: string;
  /** The folder of its temporary files. */
  readonly temporary: string;
  /** The processes by name. `escaped` left its trial's session, group and environment. */
  readonly pids: Readonly<Record<string, number>>;
};

const config = (entrypoint: string): string => `
name: long
entrypoint: ${JSON.stringify(entrypoint)}
searcher: { name: single, metric: loss }
resources: { slots_per_trial: 1 }
`;

await setup();
const small = mkdtempSync(join(tmpdir(), "small-"));
spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", small]);
const postgres = await startTestPostgres();
const nats = await startNats();
const sleeping = await startSleepingRun();
const world = await World.start({ slots: 1 });
const files = { escaped: join(world.folder, "escaped"), trial: join(world.folder, "trial") };
const escape = `env -i setsid sh -c 'echo $$ > ${files.escaped}; exec sleep 1000'`;
await world.submit(
  config(`${escape} & echo $$ > ${files.trial}; exec sleep 1000`),
  world.code("noop"),
);
const pidIn = (file: string): number => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
await eventually("the trial runs", async () => pidIn(files.escaped) > 0 && pidIn(files.trial) > 0);
const cluster = (await world.processes()).map(({ name, pid }) => [name, pid ?? 0] as const);
const running: Running = {
  mark: process.env["TY_TEST_RUN"] ?? "",
  temporary: tmpdir(),
  pids: {
    ...Object.fromEntries(cluster),
    "test postgres": postgres.pid,
    "test nats": nats.pid ?? 0,
    "supervisor of the agent in this process": sleeping.supervisor,
    "run of the agent in this process": sleeping.run,
    escaped: pidIn(files.escaped),
    trial: pidIn(files.trial),
  },
};
process.stdout.write(`${JSON.stringify(running)}\n`);
setInterval(() => {}, 60_000);
