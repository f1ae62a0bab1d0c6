/**
 * A log of many experiments with skewed values: few names and owners, hyperparameters over decades, clustered metrics.
 */
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { createPostgresLog, type EventLog, newEventId } from "@trainyard/event-log";
import { draw } from "@trainyard/kernel";

const experimentsPerCommit = 60;
export const hyperparametersOfEach = 20;

type Write = {
  readonly stream: string;
  readonly events: readonly AnyEvent[];
  /** The events that the stream has already; 0 by default. */
  readonly version?: number;
};

const meta = {
  source: "/bench",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

export async function appendNew(log: EventLog, writes: readonly Write[]): Promise<number> {
  const result = await log.append({
    commitId: newEventId(),
    writes: writes.map(({ stream, events, version = 0 }) => ({
      stream,
      expectedVersion: version,
      events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
    })),
    guards: [],
    meta,
  });
  if (result.kind !== "committed") throw new Error(`append refused: ${JSON.stringify(result)}`);
  return result.position;
}

/** Appends experiments 1 to `count`; returns the position of the last event. */
export async function fill(url: string, count: number): Promise<number> {
  await using log = createPostgresLog({ connectionString: url });
  let position = 0;
  for (let from = 1; from <= count; from += experimentsPerCommit) {
    const ids = Math.min(experimentsPerCommit, count - from + 1);
    const writes = Array.from({ length: ids }, (_, at) => experiment(from + at)).flat();
    position = await appendNew(log, writes);
  }
  return position;
}

/** Returns a number from 10^-decades to 1 for a random number, more often one near 1. */
const skewed = (chance: number, decades: number): number =>
  Number((10 ** (-decades * chance ** 2)).toPrecision(3));

export function experiment(id: number): readonly Write[] {
  const chance = (what: string): number => draw(16, what, id);
  const families = ["resnet", "vit", "bert", "unet"];
  const family = families[Math.floor(4 * chance("family") ** 3)] ?? "";
  const hyperparameters: Record<string, number | string> = { model: family };
  for (let index = 1; index < hyperparametersOfEach; index += 1) {
    hyperparameters[`h${index}`] = skewed(chance(`h${index}`), index % 5);
  }
  const created: AnyEvent = {
    type: "ExperimentCreated",
    data: {
      config: { searcher: { name: "random", metric: "loss" }, hyperparameters },
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: `${family} ${id % 97}`,
      description: "",
      labels: [`l${id % 7}`, ...(id % 1_000 === 0 ? ["rare"] : [])],
      owner: `user${Math.floor(50 * chance("owner") ** 3)}`,
      workspace: "",
      project: "",
    },
  };
  const lifecycle: AnyEvent[] = [{ type: "ExperimentActivated", data: {} }];
  if (id % 50 !== 0) {
    const outcome = id % 10 === 0 ? ExperimentOutcome.FAILED : ExperimentOutcome.COMPLETED;
    lifecycle.push({ type: "ExperimentEnded", data: { outcome, reason: "" } });
  }
  const own = { stream: `experiment-${id}`, events: [created, ...lifecycle] };
  if (id % 3 === 0) return [own];
  const trial = `${id}.1`;
  return [
    own,
    { stream: `search-${id}`, events: [started] },
    { stream: `trial-${trial}`, events: [trialCreated(id, hyperparameters)] },
    { stream: `measurement-${trial}`, events: [validation(trial, 1, skewed(chance("loss"), 3))] },
  ];
}

const started: AnyEvent = {
  type: "SearchStarted",
  data: {
    algorithm: "random",
    algorithmVersion: 1,
    metric: "loss",
    smallerIsBetter: true,
    timeMetric: "",
    seed: 1,
    trialsMax: 1,
    concurrentTrialsMax: 1,
  },
};

export const trialCreated = (
  id: number,
  hyperparameters: Record<string, number | string>,
): AnyEvent => ({
  type: "TrialCreated",
  data: {
    experiment: String(id),
    number: 1,
    seed: 1,
    warmStartCheckpoint: "",
    sourceTrial: "",
    origin: "drawn",
    hyperparameters,
  },
});

export const validation = (trial: string, step: number, loss: number): AnyEvent => ({
  type: "ValidationReported",
  data: { trial, run: 1, step, scalars: { loss }, reportKey: `0-${step}`, nonNumeric: [] },
});
