/** A gateway over a real PostgreSQL and a bus in memory, with access to its log. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StorageDisk } from "@trainyard/blob";
import type { Bus } from "@trainyard/bus";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { type AnyEvent, encodeEvent, type Plain } from "@trainyard/contracts";
import type { CommandService } from "@trainyard/contracts/command-services";
import type { ViewsVerified } from "@trainyard/contracts/commands";
import { createPostgresLog, type EventLog, migrateLog, newEventId } from "@trainyard/event-log";
import { ensureRoles, openLogDatabase, withClient } from "@trainyard/event-log/testing";
import { assert, categoryOf } from "@trainyard/kernel";
import { newApiToken } from "@trainyard/kernel/api-token";
import { categoryOwners } from "@trainyard/kernel/services";
import {
  type CommandFunctions,
  type CommandTable,
  commandHandlers,
  createLogger,
  type Patience,
  runToken,
  type TableOverrides,
} from "@trainyard/runtime";
import pg from "pg";
import { parseConfig } from "../config.ts";
import { createService } from "../service.ts";

export type TestGateway = AsyncDisposable & {
  readonly url: string;
  readonly grpcUrl: string;
  readonly token: string;
  /** The variables of the gateway's settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a second gateway over the same database, as a replica or a later start. Returns its address. */
  readonly startAnother: (overrides?: Overrides) => Promise<string>;
  readonly bus: Bus;
  /** The server of the bus, which disconnects the gateway by its name. */
  readonly hub: MemoryHub;
  /** The log with the rights of all services. */
  readonly log: EventLog;
  /** Simulates the services that verify their folds; each answers in steps, with the given verdicts. */
  readonly verifying: (
    answers: Readonly<Record<string, readonly Plain<ViewsVerified>[]>>,
  ) => Promise<AsyncDisposable>;
  /** Simulates a service with some of its commands. */
  readonly serving: <Service extends CommandService>(
    service: Service,
    commands: Partial<CommandTable<Service>>,
  ) => Promise<AsyncDisposable>;
  /** The default folder of checkpoints and TensorBoard files. */
  readonly checkpointDir: string;
  /** The folder of model code and submissions. */
  readonly blobDir: string;
  readonly sql: (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>;
  /** Makes the token of a run that was granted by the event at a position. */
  readonly runToken: (run: string, grantPosition?: number) => Promise<string>;
  /** Appends events to a stream as its owner would. Returns the position. */
  readonly append: (stream: string, ...events: readonly AnyEvent[]) => Promise<number>;
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<CallAnswer>;
};

type Overrides = Pick<TableOverrides, "clock" | "logger" | "pool"> & {
  readonly disk?: StorageDisk;
  readonly patience?: Partial<Patience>;
  /** The port at which the gateway reaches the database, if it is not the database's own. */
  readonly databasePort?: number;
};

export type CallOptions = {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The token to send; null for none. */
  readonly token?: string | null;
};

export type CallAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [key: string]: unknown };
};

/** Tests call as fast as they can. */
const unlimited = {
  TRAINYARD_RATE_USER: "0",
  TRAINYARD_RATE_RUN: "0",
  TRAINYARD_RATE_ADDRESS: "0",
};

export const runTokenKey = "07".repeat(32);

/** Starts a gateway; `environment` adds to its configuration, and `overriding` is given the address of its database. */
export async function startTestGateway(
  environment: Readonly<Record<string, string>> = {},
  overriding: (databaseUrl: string) => Overrides = () => ({}),
): Promise<TestGateway> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await openLogDatabase());
  await withClient(database.url(), prepare);
  const folder = await mkdtemp(join(tmpdir(), "trainyard-gateway-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const checkpointDir = join(folder, "checkpoints");
  await mkdir(checkpointDir);
  const { text: token } = newApiToken();
  await writeFile(join(folder, "token"), token, { mode: 0o600 });
  const hub = createMemoryBus();
  const settings = {
    TRAINYARD_POSTGRES_URL: database.url("ty_gateway"),
    TRAINYARD_NATS_URL: "127.0.0.1:1",
    TRAINYARD_BLOB_DIR: join(folder, "blobs"),
    TRAINYARD_CHECKPOINT_DIR: checkpointDir,
    TRAINYARD_RUN_TOKEN_KEY: runTokenKey,
    TRAINYARD_FIRST_TOKEN_FILE: join(folder, "token"),
    ...unlimited,
    ...environment,
  };
  const config = parseConfig(settings);
  let grpcUrl = "";
  const start = async ({ databasePort, ...overrides }: Overrides = {}): Promise<string> => {
    const bus = hub.connect("gateway");
    const logger = createLogger("gateway", "silent");
    const postgres = new URL(config.postgresUrl);
    if (databasePort !== undefined) postgres.port = String(databasePort);
    const own = { ...config, postgresUrl: postgres.href };
    const gateway = stack.use(await createService(own, { bus, logger, ...overrides }));
    await gateway.start();
    grpcUrl ||= gateway.grpcAddress();
    return gateway.address();
  };
  const overrides = overriding(config.postgresUrl);
  if (overrides.pool !== undefined) stack.adopt(overrides.pool, (pool) => pool.end());
  const url = await start(overrides);
  const log = stack.use(createPostgresLog({ connectionString: database.url() }));
  const ownLog = stack.use(createPostgresLog({ connectionString: database.url("ty_gateway") }));
  const admin = new pg.Pool({ connectionString: database.url(), max: 2 });
  stack.defer(() => admin.end());
  return {
    url,
    grpcUrl,
    token,
    environment: settings,
    startAnother: start,
    bus: hub.connect("test"),
    hub,
    log,
    verifying: (answers) => verifying(hub, answers),
    serving: (service, commands) => serving(hub, service, commands as CommandFunctions),
    checkpointDir,
    blobDir: join(folder, "blobs"),
    sql: (text, values) => admin.query(text, values?.slice()),
    runToken: async (allocation, grantPosition = 1) => {
      const [granted] = await log.readAll(grantPosition - 1, 1);
      assert(granted !== undefined, `the log has an event at position ${grantPosition}`);
      const key = { id: "1", secret: Buffer.from(runTokenKey, "hex") };
      return runToken(key, { allocation, grantPosition, grantId: granted.id });
    },
    append: (stream, ...events) =>
      append(categoryOwners[categoryOf(stream)] === "gateway" ? ownLog : log, stream, events),
    call: (method, path, options) => call(url, token, method, path, options ?? {}),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function serving(
  hub: MemoryHub,
  service: string,
  commands: CommandFunctions,
): Promise<AsyncDisposable> {
  const handlers = commandHandlers(service, commands, createLogger(service, "silent"));
  return hub.connect(service).serve(service, handlers);
}

async function verifying(
  hub: MemoryHub,
  answers: Readonly<Record<string, readonly Plain<ViewsVerified>[]>>,
): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  for (const [service, steps] of Object.entries(answers)) {
    let step = 0;
    const VerifyViews: CommandTable<"common">["VerifyViews"] = async () => {
      step += 1;
      return steps[Math.min(step, steps.length) - 1] ?? { done: true, views: [] };
    };
    stack.use(await serving(hub, service, { VerifyViews }));
  }
  return stack;
}

async function prepare(client: pg.Client): Promise<void> {
  const { database = "", user = "" } = client;
  await ensureRoles(client, ["ty_gateway"]);
  // The grants are the same as those of the embedded cluster.
  await client.query(`revoke all on database ${database} from public`);
  await client.query(`grant connect, create, temporary on database ${database} to ty_gateway`);
  await client.query("create schema gateway authorization ty_gateway");
  const categories = Object.fromEntries(
    Object.entries(categoryOwners).map(([category, owner]) => [
      category,
      owner === "gateway" ? "ty_gateway" : user,
    ]),
  );
  await migrateLog(client, { roles: { categories, consumers: { gateway: "ty_gateway" } } });
}

async function append(log: EventLog, stream: string, events: readonly AnyEvent[]): Promise<number> {
  let version = 0;
  for (let page = await log.read(stream, 0, 10_000); page.length > 0; ) {
    version += page.length;
    page = await log.read(stream, version, 10_000);
  }
  const result = await log.append({
    commitId: randomUUID(),
    writes: [
      {
        stream,
        expectedVersion: version,
        events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
      },
    ],
    guards: [],
    meta: {
      source: "/trainyard/test",
      workspace: "",
      correlationid: "",
      causationid: "",
      authid: "",
      traceparent: "",
    },
  });
  if (result.kind !== "committed") throw new Error(JSON.stringify(result));
  return result.position;
}

async function call(
  url: string,
  token: string,
  method: string,
  path: string,
  { body, headers, token: other }: CallOptions,
): Promise<CallAnswer> {
  const bearer = other === undefined ? token : other;
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const parsed = (text.startsWith("{") ? JSON.parse(text) : { text }) as CallAnswer["body"];
  return { status: answer.status, headers: answer.headers, body: parsed };
}
