import { hkdfSync } from "node:crypto";
import { type BlobPlace, blobPlace, storeSettings, type StoresSettings } from "@trainyard/blob";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  signingKeyOf,
  signingVariables,
  storesOf,
  storesVariables,
} from "@trainyard/runtime";
import { z } from "zod";
import { registryLimits } from "./limits.ts";

const schema = z.object({
  ...connectionVariables,
  ...storesVariables,
  ...signingVariables,
  /** The checkpoint folder of experiments whose configuration has no checkpoint storage. */
  TRAINYARD_CHECKPOINT_DIR: z.string().min(1),
  /** The address at which agents read blobs of a folder; by default the address that this service listens on. */
  TRAINYARD_REGISTRY_URL: z.url().optional(),
  /** Time that the files of failed and abandoned checkpoints are kept. */
  TRAINYARD_ABANDONED_GRACE_SECONDS: z.coerce
    .number()
    .min(0)
    .default(registryLimits.abandonedGraceSeconds),
});

export type RegistryConfig = ConnectionsConfig & {
  readonly stores: Omit<StoresSettings, "clock">;
  readonly blobs: BlobPlace;
  readonly checkpointDir: string;
  readonly abandonedGraceMs: number;
  readonly publicUrl: string | null;
  /** The key that signs context addresses; every replica has the same one. */
  readonly urlKey: Buffer;
};

export function parseConfig(environment: Readonly<Record<string, string>>): RegistryConfig {
  const env = parseEnvironment(schema, environment);
  const { secret } = signingKeyOf(env);
  return {
    ...connectionsOf(env),
    stores: { ...storesOf(env), kinds: storeSettings(environment) },
    blobs: blobPlace(environment),
    checkpointDir: env.TRAINYARD_CHECKPOINT_DIR,
    abandonedGraceMs: env.TRAINYARD_ABANDONED_GRACE_SECONDS * 1000,
    publicUrl: env.TRAINYARD_REGISTRY_URL ?? null,
    // A derived key: a leaked address signature reveals nothing about run tokens.
    urlKey: Buffer.from(hkdfSync("sha256", secret, "", "trainyard context urls", 32)),
  };
}
