/**
 * Clients watch lists, points and lines while parts of the platform die and are down. Whenever a part is back, each
 * client receives new events; in the end each has exactly the content of the lists, and each point and line once.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Client } from "@trainyard/client";
import { drawInteger } from "@trainyard/kernel";
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";
import { isSeries, listed, type Mirror, type WatchedTopic, Watcher } from "./watcher.ts";

/** A part that is killed with kill -9 and started again; `wipe` deletes the data of NATS meanwhile. */
export type Trouble = { readonly part: string; readonly awayMs: number; readonly wipe?: boolean };

export type Options = {
  readonly seed: number;
  readonly clients: number;
  readonly troubles: readonly Trouble[];
  readonly log: (line: string) => void;
};

export type Found = { readonly violations: readonly string[]; readonly summary: string };

/** A client that has received nothing for this long hangs. */
const hearMs = 90_000;
const stepSeconds = 0.5;
const churnMs = 400;
const experimentsOfChurn = 12;

/** The cluster must not start dead parts again, and have two free slots. */
export async function troubledWatch(
  world: World,
  { seed, clients, troubles, log }: Options,
): Promise<Found> {
  const { client } = world;
  const experiment = await training(world);
  const others = await paused(world);
  const over = new AbortController();
  const watchers = Array.from(
    { length: clients },
    (_, index) => new Watcher(client, topicsOf(seed, index, experiment)),
  );
  const running = watchers.map((watcher) => watcher.run(over.signal));
  const enough = new AbortController();
  const churning = churn(client, others, seed, enough.signal);
  const violations: string[] = [];
  const heard = [await untilHeard(client, others, watchers, "at first", violations)];
  for (const trouble of troubles) {
    const what = await strike(world, trouble);
    const ms = await untilHeard(client, others, watchers, `after ${what}`, violations);
    log(`${what}: all ${clients} clients have heard after ${ms} ms`);
    heard.push(ms);
  }
  enough.abort();
  const changes = await churning;
  await client.call("killExperiment", { experiment }, { outlast: true, idempotencyKey: "end" });
  violations.push(...(await untilConverged(client, watchers)));
  over.abort();
  await Promise.all(running);
  violations.push(...watchers.flatMap((watcher) => watcher.violations));
  const summary = [
    `${clients} clients, ${changes} changes, ${sum(watchers, ({ frames }) => frames)} frames`,
    `${sum(watchers, ({ connections }) => connections)} connections, ${sum(watchers, ({ resets }) => resets)} resets`,
    `the last client heard ${heard.join(", ")} ms after each part was back`,
  ].join("; ");
  return { violations: violations.slice(0, 20), summary };
}

const sum = (watchers: readonly Watcher[], of: (watcher: Watcher) => number): number =>
  watchers.reduce((total, watcher) => total + of(watcher), 0);

/** Submits two trials that report and write until they are killed. */
async function training(world: World): Promise<string> {
  const config = `
name: training
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 2 }
max_restarts: 20
environment: { environment_variables: [STEPS=100000, STEP_SECONDS=${stepSeconds}] }
`;
  const experiment = await world.submit(config, world.code("steps"));
  await world.untilTrials(
    experiment,
    (trials) => trials.length === 2 && trials.every(({ stepsCompleted }) => stepsCompleted > 0),
  );
  return experiment;
}

/** Submits experiments that are changed repeatedly. */
async function paused(world: World): Promise<readonly string[]> {
  const config = `
name: changed
entrypoint: "true"
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 1 }
`;
  const ids: string[] = [];
  for (let n = 0; n < experimentsOfChurn; n += 1) {
    const answer = await world.client.call("createExperiment", { config, paused: true });
    ids.push(answer.experiment?.id ?? "");
  }
  return ids;
}

/** Half of the clients have filters. All have a list in which the marks of `untilHeard` appear. */
function topicsOf(seed: number, index: number, experiment: string): readonly WatchedTopic[] {
  const drawn = drawInteger(seed, "filter", index, 10);
  const filter = index % 2 === 0 ? "label = even" : `name : n${drawn} or not label = l${drawn}`;
  const trial = `${experiment}.${1 + (index % 2)}`;
  return [
    { kind: "experiments", experiment: "", filter: "" },
    { kind: "experiments", experiment: "", filter },
    { kind: "trials", experiment, filter: index % 3 === 0 ? "metrics.loss < 0.05" : "" },
    { kind: "agents", experiment: "", filter: "" },
    { kind: "points", experiment, id: index % 3 === 0 ? trial : "" },
    { kind: "lines", experiment, id: index % 4 === 0 ? trial : "" },
  ];
}

/** Returns the number of acknowledged changes. */
async function churn(
  client: Client,
  experiments: readonly string[],
  seed: number,
  enough: AbortSignal,
): Promise<number> {
  let changes = 0;
  for (let turn = 0; !enough.aborted; turn += 1) {
    const experiment = experiments[drawInteger(seed, "experiment", turn, experiments.length)] ?? "";
    const label = `l${drawInteger(seed, "label", turn, 10)}`;
    const isEven = drawInteger(seed, "even", turn, 2) === 0;
    await client
      .call("updateExperiment", {
        experiment,
        name: `n${drawInteger(seed, "name", turn, 10)}`,
        addLabels: isEven ? [label, "even"] : [label],
        removeLabels: isEven ? [] : ["even"],
      })
      .then(
        () => (changes += 1),
        () => {}, // Away.
      );
    await delay(churnMs, undefined, { signal: enough }).catch(() => {});
  }
  return changes;
}

async function strike(world: World, { part, awayMs, wipe = false }: Trouble): Promise<string> {
  await world.kill(part);
  await delay(awayMs);
  if (wipe) rmSync(join(world.home, part), { recursive: true, force: true });
  await world.restart(part);
  return `${part} was away for ${awayMs / 1_000} s${wipe ? ", and its data is gone" : ""}`;
}

/** Marks an experiment, and returns for each client the milliseconds until it received the mark. */
async function untilHeard(
  client: Client,
  experiments: readonly string[],
  watchers: readonly Watcher[],
  when: string,
  violations: string[],
): Promise<number> {
  const [experiment = ""] = experiments;
  const description = `mark ${when}`;
  const startMs = performance.now();
  await eventually("the change is made", async () => {
    await client.call("updateExperiment", { experiment, description });
    return true;
  });
  const deaf = () =>
    watchers.filter(({ mirrors: [all] }) => {
      const known = all?.documents.get(experiment) as { readonly description?: string } | undefined;
      return known?.description !== description;
    });
  await eventually("each client has heard", async () => deaf().length === 0, hearMs).catch(() => {
    violations.push(`${when}: ${deaf().length} clients have heard nothing for ${hearMs} ms`);
  });
  return Math.round(performance.now() - startMs);
}

async function untilConverged(
  client: Client,
  watchers: readonly Watcher[],
): Promise<readonly string[]> {
  let differing: readonly string[] = [];
  const isSame = async (): Promise<boolean> => {
    const truths = new Map<string, Promise<Truth>>();
    const found = watchers.map(async ({ mirrors }, index) => {
      const own = mirrors.map(async (mirror) => {
        const key = JSON.stringify(mirror.topic);
        const truth = truths.get(key) ?? truthOf(client, mirror.topic);
        truths.set(key, truth);
        const difference = differenceOf(mirror, await truth);
        return difference === "" ? [] : [`client ${index}, ${key}: ${difference}`];
      });
      return (await Promise.all(own)).flat();
    });
    differing = (await Promise.all(found)).flat();
    return differing.length === 0;
  };
  await eventually("each client has what the lists have", isSame, hearMs).catch(() => {});
  return differing;
}

/** The content of a topic: documents by id, or positions in their order. */
type Truth = {
  readonly documents: ReadonlyMap<string, object>;
  readonly positions: readonly number[];
};

async function truthOf(client: Client, topic: WatchedTopic): Promise<Truth> {
  if (!isSeries(topic)) {
    const { documents } = await listed(client, topic);
    return { documents: new Map(documents.map((one) => [one.id, one])), positions: [] };
  }
  const { experiment, id } = topic;
  const positions: number[] = [];
  const truth = { documents: new Map<string, object>(), positions };
  if (topic.kind === "points") {
    const stream = client.stream("followMetrics", { experiment, after: "0" }, { outlast: true });
    for await (const { message } of stream) {
      const { position, point, superseded } = message;
      const trial = point?.trial ?? superseded?.trial ?? "";
      if (trial !== "" && (id === "" || trial === id)) positions.push(Number(position));
    }
    return truth;
  }
  for (let pageToken = ""; ; ) {
    const asked = { pageSize: 1_000, pageToken };
    const page =
      id === ""
        ? await client.call("listExperimentLogs", { ...asked, experiment }, { outlast: true })
        : await client.call("listTrialLogs", { ...asked, trial: id }, { outlast: true });
    positions.push(...page.items.map(({ cursor }) => Number(cursor)));
    pageToken = page.nextPageToken;
    if (pageToken === "") return truth;
  }
}

/** Returns an empty text for no difference. A list omits some fields of its documents, such as their configuration. */
function differenceOf({ documents, positions }: Mirror, truth: Truth): string {
  if (!isDeepStrictEqual(positions, truth.positions)) {
    return `${positions.length} came, and ${truth.positions.length} are stored`;
  }
  const [known, wanted] = [documents, truth.documents].map((all) => [...all.keys()].toSorted());
  if (!isDeepStrictEqual(known, wanted)) return `has ${known?.join()} and not ${wanted?.join()}`;
  const wrong = wanted?.find(
    (id) => !isDeepStrictEqual(documents.get(id), truth.documents.get(id)),
  );
  if (wrong === undefined) return "";
  const [mine, theirs] = [documents, truth.documents].map((all) => JSON.stringify(all.get(wrong)));
  return `${wrong} is ${mine} and not ${theirs}`;
}
