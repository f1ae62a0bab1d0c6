/**
 * A stage for tests of one service with a real PostgreSQL: its role, schema and log are as in production, and the bus
 * is in memory. The test appends the events of all other services.
 */

import type { Bus, CommandReply, CommandRequest } from "@trainyard/bus";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { type AnyEvent, decodeEvent, encodeEvent } from "@trainyard/contracts";
import type {
  CommandName,
  CommandReplyOf,
  CommandRequestOf,
  CommandService,
} from "@trainyard/contracts/command-services";
import {
  createPostgresLog,
  type EventLog,
  isFullPage,
  migrateLog,
  newEventId,
} from "@trainyard/event-log";
import {
  ensureRoles,
  openLogDatabase,
  type TestDatabase,
  withClient,
} from "@trainyard/event-log/testing";
import { assert, isFault, type Rejection } from "@trainyard/kernel";
import { categoryOwners } from "@trainyard/kernel/services";
import { startTestPostgres, type TestPostgres, type TestPostgresOptions } from "@trainyard/testing";
import pg from "pg";
import { decodeReply, encodeRequest, readRejected } from "../commands/commands.ts";
import { continued } from "../tracing/traceparent.ts";
import { inTransaction } from "../views/transaction.ts";
import { LogIdentity } from "../history/log-identity.ts";
import { emptyMeta } from "../work/correlation.ts";

const database = "trainyard";
const others = "ty_others";
const relayPageEvents = 500;

export type CommandOutcome<Reply> =
  | { readonly kind: "ok"; readonly reply: Reply }
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  | { readonly kind: "unavailable" };

export class DatabaseStage implements AsyncDisposable {
  readonly hub: MemoryHub = createMemoryBus();
  readonly #service: string;
  readonly #database: TestDatabase;
  readonly #server: TestPostgres | null;
  readonly #admin: pg.Pool;
  readonly #log: EventLog;
  readonly #bus: Bus;
  /** The name of the stage's log, and its last event. */
  readonly identity: LogIdentity;
  #epoch = newEventId();

  private constructor(service: string, opened: TestDatabase, server: TestPostgres | null) {
    this.#service = service;
    this.#database = opened;
    this.#server = server;
    this.#admin = new pg.Pool({ connectionString: this.url(), max: 2 });
    // If the test kills the server, idle connections break; the next query reports it.
    this.#admin.on("error", () => {});
    this.#log = createPostgresLog({ connectionString: this.url(others) });
    this.identity = new LogIdentity(this.#log);
    this.#bus = this.hub.connect("stage");
  }

  /**
   * Starts a stage on a database of the process's server; with `options`, on a server of its own, which the test may
   * stop. With `copyOf`, the stage begins with a copy of the data of another stage of the same service.
   */
  static async start(service: string, options?: TestPostgresOptions): Promise<DatabaseStage> {
    if (options === undefined) {
      const opened = await openLogDatabase();
      await prepare(service, opened);
      return new DatabaseStage(service, opened, null);
    }
    const server = await startTestPostgres(options);
    const opened: TestDatabase = {
      url: (user = server.user) => server.url({ database, user }),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
    if (options.copyOf === undefined) {
      await withClient(server.url(), (client) => client.query(`create database ${database}`));
      await prepare(service, opened);
    }
    return new DatabaseStage(service, opened, server);
  }

  /** The stage's own server. */
  get postgres(): TestPostgres {
    assert(this.#server !== null, "a stage has a server of its own if it was started with options");
    return this.#server;
  }

  /** Returns a connection string to the stage's database; by default the superuser's. */
  url(user?: string): string {
    return this.#database.url(user);
  }

  /** The environment variables of the service. */
  get variables(): Readonly<Record<string, string>> {
    const user = roleOf(this.#service);
    return {
      TRAINYARD_POSTGRES_URL: this.url(user),
      TRAINYARD_NATS_URL: "127.0.0.1:1",
      TRAINYARD_LOG_LEVEL: "silent",
    };
  }

  /**
   * Appends events to a stream of another service, with its owner's rights; an event may have an id. Returns the
   * position.
   */
  async tell(
    stream: string,
    ...events: readonly (AnyEvent & { readonly id?: string })[]
  ): Promise<number> {
    const version = "select max(version)::integer as version from log.events where stream = $1";
    const [before] = await this.sql<{ version: number | null }>(version, [stream]);
    const result = await this.#log.append({
      commitId: newEventId(),
      writes: [
        {
          stream,
          expectedVersion: before?.version ?? 0,
          events: events.map((event) => ({ id: event.id ?? newEventId(), ...encodeEvent(event) })),
        },
      ],
      guards: [],
      meta: { ...emptyMeta, source: "/trainyard/stage" },
    });
    assert(
      result.kind === "committed",
      `${stream} takes the test's events: ${JSON.stringify(result)}`,
    );
    await this.relay();
    return result.position;
  }

  /** Holds the locks of a statement while `during` runs. */
  async holding(statement: string, during: () => Promise<void>): Promise<void> {
    await inTransaction(this.#admin, async (client) => {
      await client.query(statement);
      await during();
    });
  }

  /** Publishes the log's events on the bus, in place of the relay. */
  async relay(): Promise<void> {
    const [first] = await this.#log.readAll(0, 1);
    const origin = { log: first?.id ?? "", epoch: this.#epoch };
    let position = (await this.#bus.lastEvent())?.position ?? 0;
    for (;;) {
      const page = await this.#log.readAll(position, relayPageEvents);
      const last = page.at(-1);
      if (last === undefined) return;
      await this.#bus.publishEvents(page, origin);
      if (!isFullPage(page, relayPageEvents)) return;
      position = last.position;
    }
  }

  /** Fills the stream from the log again as a new epoch, as the relay does after a rewind. */
  async refill(): Promise<void> {
    this.#epoch = newEventId();
    await this.#bus.clearEvents();
    await this.relay();
  }

  /** Puts the log back to a position, like a restore from a backup. The tables of the service stay as they are. */
  async restoreTo(position: number): Promise<void> {
    await this.sql("delete from log.events where position > $1", [position]);
    await this.sql("delete from log.commits where position > $1", [position]);
    await this.sql("update log.cursors set position = $1, part = 0 where position > $1", [
      position,
    ]);
    await this.sql("delete from log.streams");
    await this.sql(
      `insert into log.streams select stream, min(log.partition_of(position)),
       max(log.partition_of(position)) from log.events group by stream`,
    );
  }

  /** Returns the events of a stream. */
  async events(stream: string): Promise<readonly AnyEvent[]> {
    return (await this.#log.read(stream, 0, 100_000)).map(decodeEvent);
  }

  head(): Promise<number> {
    return this.#log.head();
  }

  /** Runs SQL as administrator. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#admin.query<Row>(text, values)).rows;
  }

  /** Sends a command over the bus; waits for a service that is still acquiring its lease, like every client. */
  async ask<Service extends CommandService, Name extends CommandName<Service>>(
    service: Service,
    name: Name,
    message: CommandRequestOf<Service, Name>,
    commitId: string = newEventId(),
  ): Promise<CommandOutcome<CommandReplyOf<Service, Name>>> {
    const headers = {
      commitId,
      authid: "stage",
      traceparent: continued(""),
      correlationid: "",
    };
    const body = encodeRequest(service, name, message);
    const answer = await this.#reply(name, { headers, body });
    if (answer.kind === "unavailable") return { kind: "unavailable" };
    if (answer.kind === "rejected") {
      return { kind: "rejected", rejection: readRejected(answer.body) };
    }
    return { kind: "ok", reply: decodeReply(service, name, answer.body) };
  }

  async #reply(name: string, request: CommandRequest): Promise<CommandReply> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#bus.request(this.#service, name, request, 20_000);
      } catch (error) {
        const isTakingOver = isFault(error) && error.code === "no_responders";
        if (!isTakingOver || attempt === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Makes the service verify each of its folds against the log; returns each finding by the fold's name. */
  async verify(): Promise<Readonly<Record<string, string>>> {
    const verification = newEventId();
    for (;;) {
      const answer = await this.ask("common", "VerifyViews", { verification });
      assert(answer.kind === "ok", `the service verifies: ${JSON.stringify(answer)}`);
      if (!answer.reply.done) continue;
      return Object.fromEntries(
        answer.reply.views.map(({ view, finding, unverified }) => [
          view,
          unverified ? `not verified: ${finding}` : finding,
        ]),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#log[Symbol.asyncDispose]();
    await this.#admin.end();
    await this.#database[Symbol.asyncDispose]();
  }
}

const roleOf = (service: string): string => `ty_${service.replaceAll("-", "_")}`;

async function prepare(service: string, opened: TestDatabase): Promise<void> {
  const role = roleOf(service);
  await withClient(opened.url(), async (client) => {
    await ensureRoles(client, ["ty_migrator", role, others]);
    const { database: name = "" } = client;
    await client.query(`grant connect, create, temporary on database ${name} to ${role}`);
    await client.query(`create schema ${role.slice("ty_".length)} authorization ${role}`);
    const categories = Object.entries(categoryOwners).map(([category, owner]): [string, string] => [
      category,
      owner === service ? role : others,
    ]);
    await migrateLog(client, {
      roles: { categories: Object.fromEntries(categories), consumers: { [service]: role } },
    });
  });
}
