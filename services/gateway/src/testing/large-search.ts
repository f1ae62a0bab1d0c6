/**
 * A search of many trials is deleted, and the read model is rebuilt over it, beside an experiment whose trial reports:
 * the statements of the read model have a limit of time, which a large search must not exceed.
 */
import { randomUUID } from "node:crypto";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { foldingServices } from "../api/cluster/verify.ts";
import { created, requested, searchStarted, trialCreated, validation } from "./example-events.ts";
import { type LimitedPool, limitedPool } from "./limited-pool.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

export type LargeSearch = {
  readonly violations: readonly string[];
  /** The seconds in which the first and the second half of the trials' rows were removed. */
  readonly halves: readonly [number, number];
  /** The seconds of the rebuild, and of the removal after it. */
  readonly rebuilt: number;
  readonly removedAgain: number;
  /** Milliseconds from the commit of a report of the other experiment until a read has it. */
  readonly waits: { readonly p95: number; readonly max: number };
  /** The longest statement, and how many were canceled because of the limit. */
  readonly statements: LimitedPool["statements"];
};

type Options = {
  readonly trials: number;
  readonly statementMs: number;
  readonly log: (line: string) => void;
};

const trialsPerCommit = 120;
const waitMsMax = 2_000;
/** With the metric of a validation, each trial has 15 attributes. */
const hyperparameters = Object.fromEntries(
  Array.from({ length: 14 }, (_, n) => [`a hyperparameter with a name ${n}`, n / 7]),
);

export async function largeSearch({ trials, statementMs, log }: Options): Promise<LargeSearch> {
  await using stack = new AsyncDisposableStack();
  const violations: string[] = [];
  let statements: LimitedPool["statements"] = { longestMs: 0, canceled: 0 };
  const stream = { write: (line: string) => void violations.push(line.trim()) };
  const logger = createLogger("gateway", "warn", { stream });
  const gateway = stack.use(
    await startTestGateway({}, (url) => {
      const limited = limitedPool(url, statementMs);
      ({ statements } = limited);
      return { logger, pool: limited.pool };
    }),
  );
  const holds = { done: true, views: [] };
  stack.use(
    await gateway.verifying(Object.fromEntries(foldingServices.map((name) => [name, [holds]]))),
  );
  const startedMs = performance.now();
  const seconds = (): number => (performance.now() - startedMs) / 1_000;
  const say = (what: string): void => log(`${seconds().toFixed(1)} s: ${what}`);
  const verify = async (when: string): Promise<void> => {
    const { body } = await gateway.call("POST", "/api/v1/log:verify", { body: {} });
    const text = String(body["text"]);
    if (!text.includes('"done":true,"ok":true')) violations.push(`verified ${when}: ${text}`);
    say(`verified ${when}`);
  };
  await fill(gateway, trials);
  say(`${trials} trials are in the log`);
  const other = new OtherExperiment(gateway);
  await other.begin();
  say("and in the read model");
  await other.beside(() => verify("with the search"));
  const removed = await other.beside(async () => {
    await gateway.append("experiment-1", { type: "ExperimentDeleted", data: {} });
    const beganAt = seconds();
    const half = await untilLeft(gateway, trials / 2, seconds);
    const end = await untilLeft(gateway, 0, seconds);
    say("its rows are removed");
    return [half - beganAt, end - half] as const;
  });
  await other.beside(() => verify("without the search"));
  const [rebuilt, removedAgain] = await other.beside(async () => {
    const beganAt = seconds();
    const tableBefore = await tableOf(gateway);
    const body = { service: "gateway", view: "documents" };
    await gateway.call("POST", "/api/v1/views/rebuild", { body });
    await until(async () => (await tableOf(gateway)) !== tableBefore);
    say("the read model is rebuilt");
    const rebuiltAt = seconds();
    const end = await untilLeft(gateway, 0, seconds);
    say("its rows are removed again");
    return [rebuiltAt - beganAt, end - rebuiltAt] as const;
  });
  await other.beside(() => verify("after the rebuild"));
  const waits = other.waits();
  if (waits.max > waitMsMax) violations.push(`a report was not shown for ${waits.max} ms`);
  return { violations, halves: removed, rebuilt, removedAgain, waits, statements };
}

async function fill(gateway: TestGateway, trials: number): Promise<void> {
  await gateway.append("experiment-1", created({}));
  await gateway.append("search-1", searchStarted());
  for (let from = 1; from <= trials; from += trialsPerCommit) {
    const numbers = Array.from(
      { length: Math.min(trialsPerCommit, trials - from + 1) },
      (_, at) => from + at,
    );
    await commit(gateway, numbers.flatMap(trialWrites));
  }
}

const trialWrites = (number: number): readonly (readonly [string, readonly AnyEvent[]])[] => {
  const trial = `1.${number}`;
  const { data } = trialCreated(number);
  const report = validation({ step: 1, loss: 1 / number });
  return [
    [
      `trial-${trial}`,
      [{ type: "TrialCreated", data: { ...data, hyperparameters } }, requested(1, 0)],
    ],
    [`measurement-${trial}`, [{ ...report, data: { ...report.data, trial } }]],
  ];
};

async function commit(
  { log }: TestGateway,
  writes: readonly (readonly [string, readonly AnyEvent[]])[],
): Promise<void> {
  const meta = { source: "/trainyard/test", workspace: "", correlationid: "" };
  const result = await log.append({
    commitId: randomUUID(),
    writes: writes.map(([stream, events]) => ({
      stream,
      expectedVersion: 0,
      events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
    })),
    guards: [],
    meta: { ...meta, causationid: "", authid: "", traceparent: "" },
  });
  if (result.kind !== "committed") throw new Error(JSON.stringify(result));
}

/** An experiment that reports now and then, and is read at once. */
class OtherExperiment {
  readonly #gateway: TestGateway;
  readonly #waitsMs: number[] = [];
  #step = 0;

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  async begin(): Promise<void> {
    const { append } = this.#gateway;
    await append("experiment-2", created({}));
    await append("search-2", searchStarted());
    const { data } = trialCreated(1);
    await append("trial-2.1", { type: "TrialCreated", data: { ...data, experiment: "2" } });
    await until(async () => (await this.#gateway.call("GET", "/api/v1/trials/2.1")).status === 200);
  }

  /** Reports and reads until an action is done. */
  async beside<Result>(act: () => Promise<Result>): Promise<Result> {
    let isOver = false;
    const done = act().finally(() => {
      isOver = true;
    });
    while (!isOver) await this.#report();
    return done;
  }

  async #report(): Promise<void> {
    this.#step += 1;
    const report = validation({ step: this.#step, loss: 1 });
    const event = { ...report, data: { ...report.data, trial: "2.1" } };
    const position = await this.#gateway.append("measurement-2.1", event);
    const beganMs = performance.now();
    await until(async () => {
      const path = `/api/v1/trials/2.1?minPosition=${position}`;
      return (await this.#gateway.call("GET", path)).status === 200;
    });
    this.#waitsMs.push(performance.now() - beganMs);
    await pause(systemClock, 20);
  }

  waits(): LargeSearch["waits"] {
    const sorted = this.#waitsMs.toSorted((one, other) => one - other);
    const at = (share: number): number =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    return { p95: at(0.95), max: at(1) };
  }
}

/** Waits until at most `trials` trials have rows; returns the time. */
async function untilLeft(
  { sql }: TestGateway,
  trials: number,
  seconds: () => number,
): Promise<number> {
  await until(async () => {
    const { rows } = await sql(
      `select (select count(*) from gateway.trial_rows where scope = '1')
         + (select count(*) from gateway.removed_experiments) as left`,
    );
    return Number(rows[0]?.["left"]) <= trials;
  });
  return seconds();
}

/** Returns the identity of the table of documents, which a rebuild replaces. */
async function tableOf({ sql }: TestGateway): Promise<unknown> {
  return (await sql("select 'gateway.documents'::regclass::oid::int as oid")).rows[0]?.["oid"];
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(systemClock, 50);
}
