/** The environment of each process: a file of mode 0600 per process, named by TRAINYARD_ENV_FILE. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { busUserOf } from "@trainyard/bus/server";
import { parseEnvFile } from "@trainyard/runtime/environment";
import { roleOf } from "@trainyard/migrate";
import { ClusterError } from "../cluster-error.ts";
import { writeAtomically } from "../home/atomic-file.ts";
import { checkout, type Home } from "../home/home.ts";
import type { Ports } from "./ports.ts";
import { postgresUrl } from "../servers/postgres.ts";
import type { Secrets } from "../home/secrets.ts";
import type { ServiceEntry } from "./services.ts";

export type Values = Readonly<Record<string, string>>;

export const host = "127.0.0.1";

export function localUrl(port: number | undefined): string {
  return `http://${host}:${port ?? 0}`;
}

/** The services that have a gRPC server. */
export const servesGrpc: ReadonlySet<string> = new Set(["gateway", "metrics"]);
export const grpcPortOf = (service: string): string => `${service}-grpc`;

function shared(ports: Ports): Values {
  return {
    TRAINYARD_NATS_URL: `nats://${host}:${ports["nats"] ?? 0}`,
    TRAINYARD_API_URL: localUrl(ports["gateway"]),
    TRAINYARD_METRICS_URL: localUrl(ports["metrics"]),
    TRAINYARD_REGISTRY_URL: localUrl(ports["registry"]),
    TRAINYARD_HTTP_HOST: host,
  };
}

export function serviceEnvironment(
  service: ServiceEntry,
  home: Home,
  secrets: Secrets,
  ports: Ports,
): Values {
  const role = roleOf(service.name);
  return {
    ...shared(ports),
    TRAINYARD_HTTP_PORT: String(ports[service.name] ?? 0),
    ...(servesGrpc.has(service.name)
      ? { TRAINYARD_GRPC_PORT: String(ports[grpcPortOf(service.name)] ?? 0) }
      : {}),
    TRAINYARD_POSTGRES_URL: postgresUrl(
      ports["postgres"] ?? 0,
      role,
      secrets.postgresPasswords[role] ?? "",
    ),
    TRAINYARD_NATS_USER: service.name,
    TRAINYARD_NATS_PASSWORD: secrets.natsPasswords[service.name] ?? "",
    // Services inherit the address of an object store, which replaces the folder.
    TRAINYARD_BLOB_DIR: (process.env["TRAINYARD_BLOB_STORAGE"] ?? "") === "" ? home.blobs : "",
    TRAINYARD_CHECKPOINT_DIR: home.checkpoints,
    ...(service.readsRunTokens
      ? {
          TRAINYARD_RUN_TOKEN_KEY: secrets.runTokenKey.secretHex,
          TRAINYARD_RUN_TOKEN_KEY_ID: secrets.runTokenKey.id,
        }
      : {}),
    ...(service.name === "gateway" ? gatewayEnvironment(home) : {}),
    ...(service.name === "feeds" ? { TRAINYARD_FEEDS_NATS_USERS_FILE: home.feedUsersFile } : {}),
  };
}

/** Everything on one machine is one person's, so nothing is limited by its rate. */
const gatewayEnvironment = (home: Home): Values => ({
  TRAINYARD_FIRST_TOKEN_FILE: home.tokenFile,
  TRAINYARD_RATE_USER: "0",
  TRAINYARD_RATE_RUN: "0",
  TRAINYARD_RATE_ADDRESS: "0",
});

export function agentEnvironment(
  agent: { readonly name: string; readonly slots: number | null; readonly slotType: string },
  home: Home,
  secrets: Secrets,
  ports: Ports,
): Values {
  const folder = join(home.agents, agent.name);
  const user = busUserOf({ kind: "agent", agent: agent.name });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    ...shared(ports),
    TRAINYARD_HTTP_PORT: String(ports[agent.name] ?? 0),
    TRAINYARD_NATS_USER: user,
    TRAINYARD_NATS_PASSWORD: secrets.natsPasswords[user] ?? "",
    TRAINYARD_AGENT_NAME: agent.name,
    TRAINYARD_AGENT_DIR: folder,
    TRAINYARD_AGENT_SLOT_TYPE: agent.slotType,
    TRAINYARD_AGENT_SLOTS: String(agent.slots ?? availableParallelism()),
    // Only one user may open the home and its checkpoints, so the caller's setting for users of runs does not apply.
    TRAINYARD_AGENT_USER_IDS: "",
    TRAINYARD_AGENT_TASK_USER_IDS: "",
    TRAINYARD_POOL: "default",
    TRAINYARD_CHECKPOINT_DIR: home.checkpoints,
    TRAINYARD_SDK_PATH: join(checkout, "libs", "sdk-python", "src"),
  };
}

/** The settings of agents that the cluster decides; those in the agents' files are refused. */
const decidedOfAgents = [
  "TRAINYARD_AGENT_NAME",
  "TRAINYARD_AGENT_DIR",
  "TRAINYARD_AGENT_USER_IDS",
  "TRAINYARD_AGENT_TASK_USER_IDS",
];

/** A person's settings of one agent: KEY=VALUE lines in agents/<name>.env of the home; empty without the file. */
export function agentSettings(home: Home, name: string): Values {
  const file = join(home.agents, `${name}.env`);
  if (!existsSync(file)) return {};
  const settings = parseEnvFile(readFileSync(file, "utf8"));
  for (const key of Object.keys(settings)) {
    const isOfAgent = /^TRAINYARD_(AGENT_|POOL$|SDK_PATH$)/.test(key);
    if (isOfAgent && !decidedOfAgents.includes(key)) continue;
    throw new ClusterError(
      "agent_settings",
      `${file} sets ${key}: such a file has settings of an agent (TRAINYARD_AGENT_… and TRAINYARD_POOL), except ${decidedOfAgents.join(", ")}.`,
    );
  }
  return settings;
}

export class EnvironmentFiles {
  readonly folder: string;

  constructor(home: Home) {
    this.folder = join(home.run, "environment");
  }

  /** Writes the environment files of this start, and removes those of processes that it does not include. */
  write(values: ReadonlyMap<string, Values>): void {
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    for (const [name, entries] of values) {
      const lines = Object.entries(entries).map(([key, value]) => `${key}=${value}\n`);
      writeAtomically(this.fileOf(name), lines.join(""));
    }
  }

  fileOf(name: string): string {
    return join(this.folder, `${name}.env`);
  }
}
