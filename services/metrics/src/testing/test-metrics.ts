/** The service over a real PostgreSQL, called like a training process and the gateway do. */

import type { Plain } from "@trainyard/contracts";
import type { QueryPoints } from "@trainyard/contracts/commands";
import { newEventId } from "@trainyard/event-log";
import { assert } from "@trainyard/kernel";
import { type ListeningService, runToken, type TableOverrides } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import type { TestPostgresOptions } from "@trainyard/testing";
import pg from "pg";
import { expect, vi } from "vitest";
import { parseConfig } from "../config.ts";
import { createService } from "../service.ts";
import { requested } from "./events.ts";

export type Grant = { readonly grantPosition: number; readonly grantId: string };

/** Shorter than in a cluster: many tests wait for the next compaction. */
const compactionPauseMs = 50;

const key = { id: "1", secret: Buffer.from("07".repeat(32), "hex") };

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [name: string]: unknown };
};

export type SendOptions = {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
};

export class TestMetrics implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly #replicas = new AsyncDisposableStack();
  /** The events that granted the runs, and the latest. */
  readonly #grants = new Map<string, Grant>();
  #granted: Grant = { grantPosition: 0, grantId: newEventId() };

  private constructor(stage: DatabaseStage) {
    this.stage = stage;
  }

  /** With `options`, the stage has a server of its own. */
  static async start(options?: TestPostgresOptions): Promise<TestMetrics> {
    return new TestMetrics(await DatabaseStage.start("metrics", options));
  }

  /** Starts a replica, which stops when it is disposed of or with the whole stage. */
  async replica(
    overrides: TableOverrides = {},
    variables: Readonly<Record<string, string>> = {},
  ): Promise<ListeningService> {
    const config = parseConfig({
      ...this.stage.variables,
      TRAINYARD_RUN_TOKEN_KEY: key.secret.toString("hex"),
      ...variables,
    });
    const bus = this.stage.hub.connect("metrics");
    const service = this.#replicas.use(
      await createService(config, { bus, compactionPauseMs, ...overrides }),
    );
    await service.start();
    return service;
  }

  /** Requests a run as the experiments service does; in these tests the request is the grant, too. */
  async request(
    trial: string,
    run: number,
    fromStep = 0,
    fromCheckpoint = "",
    grantId = newEventId(),
  ): Promise<void> {
    const event = requested(run, fromStep);
    const data = { ...event.data, fromCheckpoint };
    const grantPosition = await this.stage.tell(`trial-${trial}`, { ...event, data, id: grantId });
    this.#granted = { grantPosition, grantId };
    this.#grants.set(`${trial}#${run}`, this.#granted);
  }

  token(run: string, grant = this.#grants.get(run) ?? this.#granted): string {
    return runToken(key, { allocation: run, ...grant });
  }

  async send(
    service: ListeningService,
    run: string,
    body: unknown,
    { token = this.token(run), headers = {} }: SendOptions = {},
  ): Promise<Answer> {
    const url = `${service.address()}/api/v1/runs/${encodeURIComponent(run)}/reports`;
    const response = await fetch(url, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: {
        "content-type": "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer["body"],
    };
  }

  async page(query: Partial<Plain<QueryPoints>> & { readonly trial: string }) {
    const whole = { group: "", superseded: false, after: "", limit: 0, ...query };
    const answer = await this.stage.ask("metrics", "QueryPoints", whole);
    assert(answer.kind === "ok", `points are answered: ${JSON.stringify(answer)}`);
    return answer.reply;
  }

  /** Returns every report of a trial, as (run, group, step, values, superseded). */
  async reports(trial: string, superseded = false, limit = 100): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    let after = "";
    do {
      const page = await this.page({ trial, superseded, after, limit });
      for (const { run, group, stepsCompleted, scalars, others, ...more } of page.points) {
        found.push([run, group, stepsCompleted, scalars, others, more.superseded]);
      }
      after = page.next;
    } while (after !== "");
    return found;
  }

  /** Holds the locks of a statement until the returned function is called. */
  async hold(statement: string): Promise<() => Promise<void>> {
    const { TRAINYARD_POSTGRES_URL: connectionString } = this.stage.variables;
    const holder = new pg.Client({ connectionString });
    await holder.connect();
    await holder.query("begin");
    await holder.query(statement);
    return async () => {
      await holder.query("commit");
      await holder.end();
    };
  }

  /** Waits until no tail is left. */
  async compact(): Promise<void> {
    await vi.waitFor(
      async () => {
        await this.stage.sql(
          `update metrics.runs set due_at = now() where exists
             (select from metrics.tails where (tails.trial, tails.run) = (runs.trial, runs.run))`,
        );
        expect(await this.stage.sql("select from metrics.tails")).toEqual([]);
      },
      { timeout: 90_000, interval: 50 },
    );
  }

  async systemPage(trial: string, { group = "", after = "", limit = 0 } = {}) {
    const query = { trial, group, after, limit };
    const answer = await this.stage.ask("metrics", "QuerySystemPoints", query);
    assert(answer.kind === "ok", `points are answered: ${JSON.stringify(answer)}`);
    return answer.reply;
  }

  /** Returns the profile of a run, or of the latest one that has figures. */
  async profile(trial: string, { run = 0, after = "", limit = 0 } = {}) {
    const answer = await this.stage.ask("metrics", "QueryProfile", { trial, run, after, limit });
    assert(answer.kind === "ok", `a profile is answered: ${JSON.stringify(answer)}`);
    return answer.reply;
  }

  /** Returns the trial's reports that count, as "run group step", once the answer reflects all events so far. */
  async points(trial: string, superseded = false): Promise<readonly string[]> {
    const told = await this.stage.head();
    await this.stage.relay();
    const points = await vi.waitFor(
      async () => {
        const page = await this.page({ trial, superseded });
        expect(page.position).toBeGreaterThanOrEqual(told);
        return page.points;
      },
      { timeout: 90_000 },
    );
    return points.map(
      ({ run, group, stepsCompleted, superseded: beyond }) =>
        `${run} ${group} ${stepsCompleted}${beyond ? " superseded" : ""}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replicas.disposeAsync();
    await this.stage[Symbol.asyncDispose]();
  }
}

/** Builds a report as the SDK sends it. */
export function report(
  n: number,
  group: string,
  stepsCompleted: number,
  metrics: Readonly<Record<string, unknown>> = { loss: 0.5 },
) {
  return { key: `0-${n}`, group, stepsCompleted, atMs: 1_700_000_000_000 + n, metrics };
}

/** Builds system samples as the SDK sends them: `mean` percent, plus or minus one. */
export function systemReport(n: number, stepsCompleted: number, mean: number, node = 0) {
  const value = { name: "utilization_percent", min: mean - 1, mean, max: mean + 1 };
  return {
    key: `${node}-${n}`,
    group: "cpu",
    stepsCompleted,
    atMs: 1_700_000_000_000 + n,
    system: { node, samples: 10, values: [value] },
  };
}
