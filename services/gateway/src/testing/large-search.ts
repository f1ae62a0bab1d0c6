/**
 * A search of many trials is paused, killed and deleted, and the read model is rebuilt over it, beside an experiment
 * whose trial reports: the statements of the read model have a limit of time, which a large search must not exceed.
 */
import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { foldingServices } from "../api/cluster/verify.ts";
import { created, searchStarted, trialCreated, validation } from "./example-events.ts";
import { type LimitedPool, limitedPool } from "./limited-pool.ts";
import { SearchHistory } from "./search-history.ts";
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

export async function largeSearch({ trials, statementMs, log }: Options): Promise<LargeSearch> {
  await using stack = new AsyncDisposableStack();
  const violations: string[] = [];
  let statements: LimitedPool["statements"] = { longestMs: 0, canceled: 0 };
  const stream = { write: (line: string) => void violations.push(line.trim()) };
  const logger = createLogger("gateway", "error", { stream });
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
  const other = new OtherExperiment(gateway);
  const search = new SearchHistory(gateway.log, trials, () => other.level());
  await other.begin();
  for (const act of ["begin", "pause", "kill"] as const) {
    await search[act]();
    say(`${trials} trials: ${act} is in the log`);
    await other.level();
    say("and in the read model");
  }
  await other.beside(() => verify("with the search"));
  const halves = await other.beside(async () => {
    await search.delete();
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
  return { violations, halves, rebuilt, removedAgain, waits: other.waits(), statements };
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
    await this.level();
  }

  /** Waits until the read model has all that is in the log. */
  async level(): Promise<void> {
    const path = `/api/v1/trials/2.1?minPosition=${await this.#gateway.log.head()}`;
    await until(async () => (await this.#gateway.call("GET", path)).status === 200);
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
    const path = `/api/v1/trials/2.1?minPosition=${position}`;
    await until(async () => (await this.#gateway.call("GET", path)).status === 200);
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
  gateway: TestGateway,
  trials: number,
  seconds: () => number,
): Promise<number> {
  const left = `select (select count(*) from gateway.trial_rows where scope = '1')
    + (select count(*) from gateway.removed_experiments) as number`;
  await until(async () => (await numberOf(gateway, left)) <= trials);
  return seconds();
}

/** Returns the identity of the table of documents, which a rebuild replaces. */
const tableOf = (gateway: TestGateway): Promise<number> =>
  numberOf(gateway, "select 'gateway.documents'::regclass::oid::bigint as number");

async function numberOf({ sql }: TestGateway, query: string): Promise<number> {
  const [row] = (await sql(query)).rows as readonly { readonly number: string }[];
  return Number(row?.number);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(systemClock, 50);
}
