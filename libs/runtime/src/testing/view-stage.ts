/** A test view in a real PostgreSQL with a log in memory: it counts how often each experiment was paused. */
import { createMemoryBus } from "@trainyard/bus/testing";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { createMemoryLog, openTestDatabase, type TestDatabase } from "@trainyard/event-log/testing";
import { type Clock, idOf } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import pg from "pg";
import { type Logger, pino } from "pino";
import { EventFeed } from "../history/event-feed.ts";
import { runtimeLimits } from "../limits.ts";
import type { Check } from "../verification/check.ts";
import { viewCheck } from "../verification/verify-view.ts";
import { within } from "../views/transaction.ts";
import { View } from "../views/view.ts";
import type { TableNames, ViewSpec } from "../views/view-spec.ts";
import { emptyMeta } from "../work/correlation.ts";

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
const patienceMs = 90_000;

export type Variant = {
  readonly version?: number;
  /** The amount that each pause counts; default: 1. */
  readonly by?: number;
  /** Selects experiments whose pauses cannot be applied: their id is inserted where a number is needed. */
  readonly refuses?: (experiment: string) => boolean;
  /** Selects the events that the view applies; default: all. */
  readonly concerns?: (event: StoredEvent) => boolean;
  readonly clock?: Clock;
  /** Called before a page is applied, in its transaction. */
  readonly before?: (events: readonly StoredEvent[], client: pg.PoolClient) => void | Promise<void>;
};

/** The cursor comes first, as in a page's locks: another order could cause a deadlock. */
const restored = ["view_cursor", "counts", "notes", "work"] as const;

const tables = `
  create schema tested;
  create table tested.counts (experiment text collate "C" primary key, paused integer not null);
  create table tested.notes (
    position bigint not null, experiment text collate "C" not null, text text not null,
    primary key (experiment, position));
  create table tested.work (experiment text collate "C" primary key, done boolean not null);
  create table tested.view_cursor (
    view text primary key, position bigint not null, commit_id uuid not null, event text not null,
    version integer not null);
  create table tested.view_set_aside (
    view text not null, stream text collate "C" not null, position bigint not null, type text not null,
    reason text not null, waiting integer not null default 0, set_aside_at timestamptz not null default now(),
    primary key (view, stream));`;

export class ViewStage implements AsyncDisposable {
  readonly #database: TestDatabase;
  readonly #pool: pg.Pool;
  #bus = createMemoryBus().connect("experiments");
  #versions = new Map<string, number>();
  #store = createMemoryLog().store;
  log: EventLog = createMemoryLog().as("experiments");

  private constructor(database: TestDatabase) {
    this.#database = database;
    const { statementTimeoutMs } = runtimeLimits;
    const connectionString = database.url();
    this.#pool = new pg.Pool({ connectionString, max: 8, statement_timeout: statementTimeoutMs });
    this.#pool.on("error", () => {}); // A server that stops breaks idle connections.
  }

  static async start(): Promise<ViewStage> {
    const stage = new ViewStage(await openTestDatabase());
    await stage.sql(tables);
    return stage;
  }

  /** Copies the log and the tables; returns a function that restores the log alone or both. */
  async backup(): Promise<(what: "log" | "log and tables") => Promise<void>> {
    const restoreLog = this.#store.backup();
    const versions = new Map(this.#versions);
    await this.sql("drop schema if exists saved cascade; create schema saved");
    for (const name of restored) {
      await this.sql(`create table saved.${name} as select * from tested.${name}`);
    }
    return async (what) => {
      restoreLog();
      this.#versions = new Map(versions);
      if (what === "log") return;
      const client = await this.#pool.connect();
      try {
        await within(client, async () => {
          for (const name of restored) {
            await client.query(`truncate tested.${name}`);
            await client.query(`insert into tested.${name} select * from saved.${name}`);
          }
        });
      } finally {
        client.release();
      }
    };
  }

  /** Empties the log and the tables. */
  async afresh(): Promise<void> {
    const log = createMemoryLog();
    this.#store = log.store;
    this.log = log.as("experiments");
    this.#bus = createMemoryBus().connect("experiments");
    this.#versions = new Map();
    // The schema is that of the service's migrations: the view creates its additional tables itself.
    await this.sql("drop schema tested cascade");
    await this.sql(tables);
  }

  /** Pauses the experiments, one event each, in this order. */
  async tell(...experiments: readonly string[]): Promise<void> {
    for (const id of experiments) {
      const stream = `experiment-${id}`;
      const expectedVersion = this.#versions.get(stream) ?? 0;
      this.#versions.set(stream, expectedVersion + 1);
      const events = [{ id: newEventId(), ...encodeEvent(paused) }];
      const writes = [{ stream, expectedVersion, events }];
      await this.log.append({ commitId: newEventId(), writes, guards: [], meta: emptyMeta });
    }
  }

  async sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { rows } = await this.#pool.query<Readonly<Record<string, unknown>>>(text);
    return rows;
  }

  async counts(): Promise<Readonly<Record<string, unknown>>> {
    const rows = await this.sql("select experiment, paused from tested.counts");
    return Object.fromEntries(
      rows.map((row) => [String(row["experiment"]), row["paused"]] as const),
    );
  }

  /** Creates a view that does not follow the log. */
  idle(clock: Clock = systemClock): FoldedView {
    return new FoldedView(this.log, this.#pool, clock, {});
  }

  /** Creates a view that follows the log. */
  async fold(variant: Variant = {}): Promise<FoldedView> {
    const view = new FoldedView(this.log, this.#pool, variant.clock ?? systemClock, variant);
    view.follow(await EventFeed.open(this.log, this.#bus, systemClock));
    return view;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
    await this.#database[Symbol.asyncDispose]();
  }
}

export class FoldedView implements AsyncDisposable {
  readonly errors: Readonly<Record<string, unknown>>[] = [];
  readonly #log: EventLog;
  readonly view: View;
  /** The number of reported rewinds of the log. */
  rewinds = 0;
  readonly #stopping = new AbortController();
  #seen = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(log: EventLog, pool: pg.Pool, clock: Clock, variant: Variant) {
    this.#log = log;
    const spec: ViewSpec = {
      schema: "tested",
      view: "counts",
      version: variant.version ?? 1,
      tables: [
        { name: "counts" },
        { name: "notes" },
        { name: "work", mayBeGone: "experiment > '5'" },
      ],
      concerns: variant.concerns ?? (() => true),
      apply: async (client, events, table) => {
        await variant.before?.(events, client);
        await apply(client, events, table, variant);
      },
      after: (events) => {
        this.#seen += events.length;
      },
      rewound: () => {
        this.rewinds += 1;
      },
    };
    this.view = new View(spec, pool, clock, this.#logger());
  }

  #logger(): Logger {
    const write = (line: string): void => {
      this.errors.push(JSON.parse(line) as Record<string, unknown>);
    };
    return pino({ level: "error" }, { write });
  }

  follow(feed: EventFeed): void {
    const run = async (): Promise<void> => {
      await using open = feed;
      await this.view.run(open, this.#stopping.signal);
    };
    this.#running = run();
  }

  /** Waits until the view's rows include all events of the test. */
  async reach(): Promise<void> {
    await this.view.reach(await this.#log.head(), patienceMs);
  }

  seen(): number {
    return this.#seen;
  }

  check(): Check {
    return viewCheck("tested", this.view, this.#log);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

async function apply(
  client: pg.PoolClient,
  events: readonly StoredEvent[],
  table: TableNames,
  { by = 1, refuses = () => false }: Variant,
): Promise<void> {
  const experiments = events.map(({ stream }) => idOf(stream));
  const positions = events.map(({ position }) => position);
  const refused = experiments.find(refuses);
  // The statement is not idempotent: an event that is applied twice counts twice.
  await client.query(
    `insert into ${table("counts")} as c select told, ${by} * count(*) from unnest($1::text[]) told group by told
     on conflict (experiment) do update set paused = c.paused + excluded.paused`,
    [experiments],
  );
  await client.query(
    `insert into ${table("notes")} (position, experiment, text)
     select position, told, 'paused' from unnest($1::text[], $2::bigint[]) e(told, position)`,
    [experiments, positions],
  );
  // Half of the page is written at this point.
  if (refused !== undefined) await client.query("select $1::text::int", [refused]);
  await client.query(
    `insert into ${table("work")} select distinct told, false from unnest($1::text[]) told
     on conflict do nothing`,
    [experiments],
  );
}
