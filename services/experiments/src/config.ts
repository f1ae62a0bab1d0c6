import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";
import { limits } from "./limits.ts";

const schema = z.object({
  ...connectionVariables,
  TRAINYARD_DELETION_GRACE_SECONDS: z.coerce.number().min(0).default(limits.deletionGraceSeconds),
});

export type ExperimentsConfig = ConnectionsConfig & { readonly deletionGraceMs: number };

export function parseConfig(environment: Readonly<Record<string, string>>): ExperimentsConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    deletionGraceMs: env.TRAINYARD_DELETION_GRACE_SECONDS * 1_000,
  };
}
