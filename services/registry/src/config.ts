import { hkdfSync } from "node:crypto";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  readEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object({
  ...connectionVariables,
  TRAINYARD_BLOB_DIR: z.string().min(1),
  /** Where checkpoints go whose experiment names no place. */
  TRAINYARD_CHECKPOINT_DIR: z.string().min(1),
  /** The address at which agents reach this service; by default the one it listens on. */
  TRAINYARD_REGISTRY_URL: z.url().optional(),
  TRAINYARD_RUN_TOKEN_KEY: z.string().regex(/^[0-9a-f]{64}$/),
});

export type RegistryConfig = ConnectionsConfig & {
  readonly blobDir: string;
  readonly checkpointDir: string;
  readonly publicUrl: string | null;
  /** Signs the addresses of contexts; the same in every replica. */
  readonly urlKey: Buffer;
};

export function readEnv(): Readonly<Record<string, string>> {
  return readEnvironment();
}

export function parseConfig(environment: Readonly<Record<string, string>>): RegistryConfig {
  const env = parseEnvironment(schema, environment);
  const key = Buffer.from(env.TRAINYARD_RUN_TOKEN_KEY, "hex");
  return {
    ...connectionsOf(env),
    blobDir: env.TRAINYARD_BLOB_DIR,
    checkpointDir: env.TRAINYARD_CHECKPOINT_DIR,
    publicUrl: env.TRAINYARD_REGISTRY_URL ?? null,
    // A key of its own: whoever breaks an address learns nothing about tokens.
    urlKey: Buffer.from(hkdfSync("sha256", key, "", "trainyard context urls", 32)),
  };
}
