/** A gateway whose database has experiments 1 to `count`; the data is built once and kept in the temporary folder. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  madeOnce,
  postgresBinaries,
  startTestPostgres,
  type TestPostgres,
} from "@trainyard/testing";
import type { BenchContext } from "../support/bench.ts";
import {
  createGatewayDatabase,
  openGateway,
  type OpenGateway,
  startGateway,
  untilFolded,
} from "../support/gateway.ts";
import { withClient } from "../support/log-server.ts";
import { fill } from "./experiments.ts";

export const database = "bench";

export type Stage = OpenGateway & { readonly postgres: TestPostgres; readonly count: number };

/**
 * Opens a gateway over a copy of data that was folded once for this read model's schema; it serves the pages of
 * `webDir`.
 */
export async function openFilled(
  stack: AsyncDisposableStack,
  context: BenchContext,
  count: number,
  webDir: string | null = null,
): Promise<Stage> {
  const copyOf = await filled(context, count);
  const postgres = stack.use(await startTestPostgres({ copyOf, fsync: true }));
  const opened = await openGateway(stack, postgres, database, { webDir });
  const { client } = opened;
  await untilFolded(
    async () => (await client.call("listExperiments", { pageSize: 1 })).items.length === 1,
  );
  return { ...opened, postgres, count };
}

const sourcesOfTheForm = [
  "services/gateway/migrations/0001_tables.sql",
  "services/gateway/src/read-model/core/lists/lists.ts",
  "services/gateway/src/read-model/document-store.ts",
  "test/bench/gateway/experiments.ts",
];

async function filled(context: BenchContext, count: number): Promise<string> {
  const root = join(import.meta.dirname, "../../..");
  const digest = createHash("sha256");
  for (const source of sourcesOfTheForm) digest.update(readFileSync(join(root, source)));
  const { runAs } = await postgresBinaries();
  const uid = runAs?.uid ?? process.getuid?.() ?? 0;
  const name = `trainyard-bench-gateway-${count}-${digest.digest("hex").slice(0, 16)}`;
  return madeOnce(name, uid, async (folder) => {
    context.say(`making a log of ${count} experiments, once`);
    await using stack = new AsyncDisposableStack();
    const postgres = stack.use(await startTestPostgres());
    const url = await createGatewayDatabase(postgres, database);
    await fill(url, count);
    context.say("folding it");
    await using gateway = new AsyncDisposableStack();
    const client = await startGateway(gateway, postgres, database);
    await untilFolded(
      async () =>
        (await client.call("getExperiment", { experiment: String(count) })).state !== "PAUSED",
    );
    await gateway.disposeAsync();
    await withClient(url, (admin) => admin.query("vacuum analyze"));
    await postgres.stop();
    await promisify(execFile)("cp", ["-a", `${postgres.data}/.`, folder]);
    await chmod(folder, 0o700);
  });
}
