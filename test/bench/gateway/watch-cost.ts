/** The processor time of one Watch frame, in the gateway and its clients together, with few and with many clients. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { Client } from "@trainyard/client";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { newApiToken } from "@trainyard/kernel/api-token";
import type { BenchContext, BenchResult } from "../support/bench.ts";
import { rateResult } from "../support/bench.ts";
import { type OpenGateway, untilFolded } from "../support/gateway.ts";
import { interleave } from "../support/measure.ts";
import { appendNew, experiment } from "./experiments.ts";

/** The first id after those of the bench's data. */
const firstId = 1_000_000;
const experimentsOfCommit = 5;
const clientsOfToken = 50;

export const watchBar = {
  id: "watch_cost_per_frame",
  unit: "frames/s",
  floor: null,
  goal: 0.5,
};

export async function watchCost(
  context: BenchContext,
  { address }: OpenGateway,
  urls: { readonly writer: string; readonly gateway: string },
): Promise<BenchResult> {
  const [few, many] = context.size === "tiny" ? [2, 4] : [10, 100];
  const commits = { tiny: 2, short: 20, full: 60 }[context.size];
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  await using log = createPostgresLog({ connectionString: urls.writer });
  const tokens = await tokensOf(urls.gateway, Math.ceil(many / clientsOfToken));
  const clients = Array.from(
    { length: many },
    (_client, index) =>
      new Client({ url: address, token: tokens[Math.floor(index / clientsOfToken)] ?? "" }),
  );
  await untilFolded(async () => (await clients.at(-1)?.call("listAgents", {})) !== undefined);
  const ids = { next: firstId };
  const measure = (count: number) => () =>
    framesPerSecond(log, clients.slice(0, count), commits, ids);
  const [ofFew, ofMany] = await interleave(
    [
      { name: `${few} clients`, round: measure(few) },
      { name: `${many} clients`, round: measure(many) },
    ],
    rounds,
    context,
  );
  return rateResult(
    watchBar,
    ofMany,
    ofFew,
    `frames for a second of processor time (gateway and clients), ${many} clients beside ${few}; half have filters of their own`,
  );
}

/** Creates a user for each token, because a user has a limited number of streams. */
export async function tokensOf(
  url: string,
  count: number,
  ownerOf = (person: number): string => `watcher-${person}`,
): Promise<readonly string[]> {
  await using log = createPostgresLog({ connectionString: url });
  const tokens: string[] = [];
  for (let person = 0; person < count; person += 1) {
    const { id, secret, text } = newApiToken();
    const secretDigest = createHash("sha256").update(secret).digest("hex");
    const data = {
      label: "",
      owner: ownerOf(person),
      secretDigest,
      expiresAtMs: 0,
      ancestors: [],
      limits: [],
    };
    await appendNew(log, [{ stream: `token-${id}`, events: [{ type: "TokenIssued", data }] }]);
    tokens.push(text);
  }
  return tokens;
}

/** Counts the frames per second of this process's processor time; the gateway and the clients run in it. */
export async function framesPerSecond(
  log: EventLog,
  clients: readonly Client[],
  commits: number,
  ids: { next: number },
  filterOf = (index: number): string => (index % 2 === 0 ? "" : `not label = of-${index}`),
): Promise<number> {
  const stop = new AbortController();
  const wanted = commits * experimentsOfCommit;
  let open = 0;
  let done = 0;
  const moved = new EventTarget();
  const tell = (): boolean => moved.dispatchEvent(new Event("moved"));
  const watching = clients.map(async (client, index) => {
    const request = { topics: [{ kind: "experiments", filter: filterOf(index) }] };
    const seen = new Set<string>();
    for await (const { message } of client.stream("watch", request, { signal: stop.signal })) {
      const { frame } = message;
      if (frame.case === "opened") open += 1;
      if (frame.case === "change") seen.add(frame.value.id);
      if (frame.case === "change" && seen.size === wanted) done += 1;
      if (frame.case === "opened" || seen.size === wanted) tell();
    }
  });
  while (open < clients.length) await once(moved, "moved");
  const before = process.cpuUsage();
  for (let commit = 0; commit < commits; commit += 1) {
    const writes = Array.from({ length: experimentsOfCommit }, (_, at) =>
      experiment(ids.next + at),
    );
    ids.next += experimentsOfCommit;
    await appendNew(log, writes.flat());
  }
  while (done < clients.length) await once(moved, "moved");
  const { user, system } = process.cpuUsage(before);
  stop.abort();
  await Promise.allSettled(watching);
  return (clients.length * wanted) / ((user + system) / 1e6);
}
