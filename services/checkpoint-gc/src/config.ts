import { storeSettings, type StoresSettings } from "@trainyard/blob";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  storesOf,
  storesVariables,
} from "@trainyard/runtime";
import { z } from "zod";
import { gcLimits } from "./limits.ts";

const schema = z.object({
  ...connectionVariables,
  ...storesVariables,
  TRAINYARD_CHECKPOINT_GRACE_SECONDS: z.coerce.number().min(0).default(gcLimits.graceSeconds),
});

export type CheckpointGcConfig = ConnectionsConfig & {
  readonly stores: Omit<StoresSettings, "clock">;
  readonly graceMs: number;
};

export function parseConfig(environment: Readonly<Record<string, string>>): CheckpointGcConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    stores: { ...storesOf(env), kinds: storeSettings(environment) },
    graceMs: env.TRAINYARD_CHECKPOINT_GRACE_SECONDS * 1000,
  };
}
