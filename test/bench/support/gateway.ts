/** A gateway in this process, over a database of its own. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bus } from "@trainyard/bus";
import { createMemoryBus } from "@trainyard/bus/testing";
import { Client } from "@trainyard/client";
import { migrateLog } from "@trainyard/event-log";
import { categoryOwners } from "@trainyard/kernel/services";
import { createService } from "@trainyard/service-gateway";
import type { TestPostgres } from "@trainyard/testing";
import { withClient } from "./log-server.ts";

/** Creates a database with an empty log and the gateway's schema; returns its URL. */
export async function createGatewayDatabase(
  postgres: TestPostgres,
  database: string,
): Promise<string> {
  await withClient(postgres.url(), async (client) => {
    for (const role of ["ty_migrator", "ty_gateway login", "ty_relay login"]) {
      await client.query(
        `do $$ begin create role ${role}; exception when duplicate_object then null; end $$`,
      );
    }
  });
  await withClient(postgres.url(), (client) => client.query(`create database ${database}`));
  const url = postgres.url({ database });
  await withClient(url, async (client) => {
    await client.query("create schema gateway authorization ty_gateway");
    await client.query(`grant connect, create, temporary on database ${database} to ty_gateway`);
    const user = client.user ?? "postgres";
    const categories: Record<string, string> = {};
    for (const [category, owner] of Object.entries(categoryOwners)) {
      categories[category] = owner === "gateway" ? "ty_gateway" : user;
    }
    await migrateLog(client, {
      roles: { categories, consumers: { gateway: "ty_gateway", relay: "ty_relay" } },
    });
  });
  return url;
}

export type OpenGateway = {
  readonly client: Client;
  readonly address: string;
  readonly grpcAddress: string;
  /** The token of the user `admin`, like the one in a new cluster's file. */
  readonly token: string;
};

export async function startGateway(
  stack: AsyncDisposableStack,
  postgres: TestPostgres,
  database: string,
): Promise<Client> {
  return (await openGateway(stack, postgres, database)).client;
}

export type GatewayOptions = {
  /** The folder of the built pages, which the gateway serves. */
  readonly webDir?: string | null;
  /** The server through which it reaches other services; without it, it reaches none. */
  readonly natsUrl?: string | null;
  /** A bus in memory, which replaces the server. */
  readonly bus?: Bus;
  /** The Redis that it shares with others. */
  readonly redisUrl?: string | null;
};

export async function openGateway(
  stack: AsyncDisposableStack,
  postgres: TestPostgres,
  database: string,
  { webDir = null, natsUrl = null, bus, redisUrl = null }: GatewayOptions = {},
): Promise<OpenGateway> {
  const folder = await mkdtemp(join(tmpdir(), "trainyard-bench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const token = `ty_${randomBytes(8).toString("hex")}_${randomBytes(32).toString("base64url")}`;
  await writeFile(join(folder, "token"), token, { mode: 0o600 });
  const config = {
    postgresUrl: postgres.url({ user: "ty_gateway", database }),
    nats: { url: natsUrl ?? "127.0.0.1:1" },
    http: { host: "127.0.0.1", port: 0 },
    logLevel: "silent" as const,
    blobs: { kind: "folder" as const, path: join(folder, "blobs") },
    stores: {},
    checkpointDir: folder,
    checkpointStorage: { type: "directory", container_path: folder },
    runTokenKeys: new Map(),
    grpcPort: 0,
    firstTokenFile: join(folder, "token"),
    peerUrl: null,
    webDir,
    taskDomain: null,
    rates: { user: null, run: null, address: null },
    trustedProxies: "",
    redisUrl,
    oidc: [],
  };
  const alone = natsUrl === null ? { bus: bus ?? createMemoryBus().connect("gateway") } : {};
  const gateway = stack.use(await createService(config, alone));
  await gateway.start();
  const address = gateway.address();
  const grpcAddress = gateway.grpcAddress();
  return { client: new Client({ url: address, token }), address, grpcAddress, token };
}

/** Polls until the read model has the expected rows. */
export async function untilFolded(isThere: () => Promise<boolean>): Promise<void> {
  while (!(await isThere().catch(() => false))) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
