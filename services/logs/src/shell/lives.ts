import type { EventLog } from "@trainyard/event-log";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { Lives } from "@trainyard/runtime";
import type { Pool } from "pg";

/** The ends, deletions and own days of experiments and tasks. */
export const logLives = (pool: Pool, log: EventLog): Lives =>
  new Lives({
    ...{ pool, log, schema: "logs" },
    policyOf: (config) => {
      const { log_retention_days } = recordedConfig(config).retention_policy;
      return { log_retention_days };
    },
  });
