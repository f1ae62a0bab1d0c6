/** How long logs and measurements are kept: days after the experiment's end, -1 for no end. */
import { type JsonObject, mappingAt, numberAt } from "../json.ts";
import type { Values } from "../parts/values.ts";
import type { SectionModule } from "./module.ts";

const days = ({ z }: Values) => z.int().min(-1).max(32_767);

export const retentionPolicy = {
  description: "For how many days after the experiment's end logs and measurements are kept.",
  keys: (values) => ({
    log_retention_days: days(values).describe("For logs; -1 for no end. Default: the cluster's."),
    metric_retention_days: days(values).describe(
      "For points and system samples; -1 for no end. Default: the cluster's.",
    ),
    group_retention_days: values.z
      .record(values.z.string().min(1), days(values))
      .describe("For metric groups with another retention."),
  }),
  /** Malformed values are left out; null means the cluster's default. */
  read: (section: JsonObject) => ({
    log_retention_days: numberAt(section, "log_retention_days", null),
    metric_retention_days: numberAt(section, "metric_retention_days", null),
    group_retention_days: Object.fromEntries(
      Object.entries(mappingAt(section, "group_retention_days")).flatMap(([group, limit]) =>
        typeof limit === "number" ? [[group, limit] as const] : [],
      ),
    ),
  }),
} satisfies SectionModule;
