import type { KeyObject } from "node:crypto";
import { type BlobPlace, blobPlace, storeSettings, type StoresSettings } from "@trainyard/blob";
import { addressForms, sectionOfAddress } from "@trainyard/blob/store-address";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  grpcVariables,
  parseEnvironment,
  runTokenKeysOf,
  runTokenVariables,
  storesOf,
  storesVariables,
} from "@trainyard/runtime";
import { z } from "zod";
import { oidcVariables, type ProviderSettings, providersOf } from "./people/oidc/config.ts";
import { type RatesConfig, rateVariables, ratesOf } from "./rates/config.ts";

const schema = z.object({
  ...connectionVariables,
  ...grpcVariables,
  ...runTokenVariables,
  ...oidcVariables,
  ...rateVariables,
  ...storesVariables,
  /** The folder for checkpoints of experiments without a checkpoint_storage. */
  TRAINYARD_CHECKPOINT_DIR: z.string().min(1),
  /** Replaces that folder by an object store: its address. */
  TRAINYARD_CHECKPOINT_STORAGE: z
    .string()
    .refine((address) => sectionOfAddress(address) !== null, {
      error: `must be ${addressForms}`,
    })
    .optional(),
  /** The endpoint of an object store that is not Amazon's or Google's. */
  TRAINYARD_CHECKPOINT_STORAGE_ENDPOINT: z.url().optional(),
  /** The file with the text of the first token, which is issued at the start unless the log has it. */
  TRAINYARD_FIRST_TOKEN_FILE: z.string().min(1).optional(),
  /** The address at which the other replicas reach this one; by default the one at which it listens. */
  TRAINYARD_GATEWAY_PEER_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The Redis that replicas share, for example redis://:PASSWORD@HOST:6379; without it each counts for itself. */
  TRAINYARD_REDIS_URL: z
    .url({
      protocol: /^rediss?$/,
      error: "must be redis://[USER:PASSWORD@]HOST:PORT, or rediss://…",
    })
    .optional(),
  /** The folder of the built Web UI; it may be built later. Without it / is a plain status page. */
  TRAINYARD_WEB_DIR: z.string().min(1).optional(),
  /** The domain of the pages of tasks, in lower case; without it they are at `t12.localhost`. */
  TRAINYARD_TASK_DOMAIN: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/, {
      error: "must be a domain in lower case, such as tasks.example.net",
    })
    .optional(),
});

export type GatewayConfig = ConnectionsConfig & {
  readonly blobs: BlobPlace;
  /** The settings of the object store of blobs. */
  readonly stores: Omit<StoresSettings, "clock">;
  readonly checkpointDir: string;
  /** The `checkpoint_storage` of experiments that have none. */
  readonly checkpointStorage: Readonly<Record<string, string>>;
  readonly grpcPort: number;
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
  readonly firstTokenFile: string | null;
  readonly webDir: string | null;
  readonly taskDomain: string | null;
  readonly peerUrl: string | null;
  readonly rates: RatesConfig;
  readonly redisUrl: string | null;
  /** The identity providers that sign people in. */
  readonly oidc: readonly ProviderSettings[];
  /** The networks of proxies, separated by commas. */
  readonly trustedProxies: string;
};

export function parseConfig(environment: Readonly<Record<string, string>>): GatewayConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    blobs: blobPlace(environment),
    stores: { ...storesOf(env), kinds: storeSettings(environment) },
    checkpointDir: env.TRAINYARD_CHECKPOINT_DIR,
    checkpointStorage: sectionOfAddress(
      env.TRAINYARD_CHECKPOINT_STORAGE ?? "",
      env.TRAINYARD_CHECKPOINT_STORAGE_ENDPOINT,
    ) ?? { type: "directory", container_path: env.TRAINYARD_CHECKPOINT_DIR },
    grpcPort: env.TRAINYARD_GRPC_PORT,
    runTokenKeys: runTokenKeysOf(env),
    firstTokenFile: env.TRAINYARD_FIRST_TOKEN_FILE ?? null,
    webDir: env.TRAINYARD_WEB_DIR ?? null,
    taskDomain: env.TRAINYARD_TASK_DOMAIN ?? null,
    peerUrl: env.TRAINYARD_GATEWAY_PEER_URL?.replace(/\/+$/, "") ?? null,
    rates: ratesOf(env),
    oidc: providersOf(env),
    redisUrl: env.TRAINYARD_REDIS_URL ?? null,
    trustedProxies: env.TRAINYARD_TRUSTED_PROXIES,
  };
}
