/**
 * Queries for versions of a model through a gateway's API, at 100,000 versions and at 10,000: the best by a metric
 * under conditions, a page of a filtered list, and a version by its number and by an alias.
 */
import type { Client } from "@trainyard/client";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { createGatewayDatabase, startGateway, untilFolded } from "../support/gateway.ts";
import { withClient } from "../support/log-server.ts";
import { callsPerSecond, interleave } from "../support/measure.ts";

const bar = { id: "registry_query_100k_flatness", unit: "queries/s", floor: 0.5, goal: 0.8 };
const model = "bench";
const callers = 4;
const versionsPerCommit = 200;
const words = { description: "", notes: "", by: "bench" };

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  if (!context.wants(bar.id)) return [];
  const [fewer, more] = context.size === "tiny" ? [200, 400] : [10_000, 100_000];
  const rounds = { tiny: 1, short: 5, full: 9 }[context.size];
  const forMs = { tiny: 50, short: 2_000, full: 5_000 }[context.size];
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres());
  const open = async (versions: number): Promise<Client> => {
    context.say(`filling a registry with ${versions} versions`);
    return openRegistry(stack, postgres, versions);
  };
  const [small, large] = [await open(fewer), await open(more)];
  const measure = (client: Client, versions: number) => () =>
    callsPerSecond(callers, forMs, (caller) => ask(client, versions, caller));
  const [few, many] = await interleave(
    [
      { name: `${fewer} versions`, round: measure(small, fewer) },
      { name: `${more} versions`, round: measure(large, more) },
    ],
    rounds,
    context,
  );
  const note = `${callers} callers; a model of ${fewer} versions beside one of ${more}`;
  return [rateResult(bar, many, few, note)];
}

let asked = 0;

/** Sends the next of the four queries. */
async function ask(client: Client, versions: number, caller: number): Promise<void> {
  asked += 1;
  switch ((asked + caller) % 4) {
    case 0: {
      const where = ["label=l3", "metadata.lr<0.5", "metadata.dataset=v1"];
      const { items } = await client.call("bestModelVersions", {
        model,
        metric: "loss",
        order: "min",
        where,
      });
      if (items.length !== 1) throw new Error("the gateway did not return the best version");
      return;
    }
    case 1: {
      const where = ["metrics.accuracy>0.4"];
      const page = await client.call("listModelVersions", { model, where, pageSize: 20 });
      if (page.items.length !== 20) throw new Error("a page is not full");
      return;
    }
    case 2: {
      const version = String((asked % versions) + 1);
      await client.call("getModelVersion", { model, version });
      return;
    }
    default:
      await client.call("getModelVersion", { model, version: "champion" });
  }
}

/** Opens a gateway with its own database, in which one registered model has this many versions. */
async function openRegistry(
  stack: AsyncDisposableStack,
  postgres: TestPostgres,
  versions: number,
): Promise<Client> {
  const database = `registry_${versions}`;
  const url = await createGatewayDatabase(postgres, database);
  await fill(url, versions);
  const client = await startGateway(stack, postgres, database);
  await untilFolded(
    async () => (await client.call("getModel", { model })).aliases["champion"] === versions,
  );
  await withClient(url, (admin) => admin.query("vacuum analyze"));
  return client;
}

async function fill(url: string, versions: number): Promise<void> {
  await using log = createPostgresLog({ connectionString: url });
  const stream = `model-${model}`;
  let version = 0;
  const append = async (events: readonly AnyEvent[]): Promise<void> => {
    const written = events.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
    const meta = { source: "/bench", workspace: "", correlationid: "", causationid: "" };
    const result = await log.append({
      commitId: newEventId(),
      writes: [{ stream, expectedVersion: version, events: written }],
      guards: [],
      meta: { ...meta, authid: "", traceparent: "" },
    });
    if (result.kind !== "committed") throw new Error(`append refused: ${JSON.stringify(result)}`);
    version += events.length;
  };
  const created = { ...words, labels: [], workspace: "" };
  await append([{ type: "ModelCreated", data: created }]);
  for (let from = 1; from <= versions; from += versionsPerCommit) {
    const count = Math.min(versionsPerCommit, versions - from + 1);
    await append(Array.from({ length: count }, (_, at) => registered(from + at)));
  }
  const data = { alias: "champion", number: versions, fromNumber: 0, reason: "", by: "bench" };
  await append([{ type: "AliasMoved", data }]);
}

/** Values repeat, so that a condition selects the same share of few versions and of many. */
function registered(number: number): AnyEvent {
  // The number is multiplied by a prime, so that the best versions are not the newest.
  const spread = (number * 7_919) % 100_003;
  return {
    type: "VersionRegistered",
    data: {
      ...words,
      number,
      semanticVersion: "",
      checkpoint: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
      trial: "1.1",
      run: 1,
      step: number,
      metrics: { loss: spread / 100_003, accuracy: (number % 10) / 10, f1: (number % 89) / 89 },
      labels: [`l${number % 7}`],
      metadata: { dataset: `v${number % 3}`, lr: (number % 11) / 10 },
    },
  };
}
