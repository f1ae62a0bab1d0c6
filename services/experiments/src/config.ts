import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";
import type { TryDelays } from "./core/trial/tries.ts";
import { limits } from "./limits.ts";

const schema = z.object({
  ...connectionVariables,
  TRAINYARD_DELETION_GRACE_SECONDS: z.coerce.number().min(0).default(limits.deletionGraceSeconds),
  TRAINYARD_RETRY_DELAY_SECONDS: z.coerce
    .number()
    .min(0)
    .default(limits.tryDelayFirstMs / 1_000),
  TRAINYARD_RETRY_DELAY_MAX_SECONDS: z.coerce
    .number()
    .min(0)
    .default(limits.tryDelayLastMs / 1_000),
  TRAINYARD_TASKS_PER_WORKSPACE: z.coerce
    .number()
    .int()
    .min(1)
    .default(limits.tasksPerWorkspaceMax),
});

export type ExperimentsConfig = ConnectionsConfig & {
  readonly deletionGraceMs: number;
  readonly delays: TryDelays;
  readonly tasksPerWorkspaceMax: number;
};

export function parseConfig(environment: Readonly<Record<string, string>>): ExperimentsConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    deletionGraceMs: env.TRAINYARD_DELETION_GRACE_SECONDS * 1_000,
    delays: {
      firstMs: env.TRAINYARD_RETRY_DELAY_SECONDS * 1_000,
      lastMs: env.TRAINYARD_RETRY_DELAY_MAX_SECONDS * 1_000,
    },
    tasksPerWorkspaceMax: env.TRAINYARD_TASKS_PER_WORKSPACE,
  };
}
