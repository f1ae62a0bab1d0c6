import { type Overrides, openParts, Partition, type Service, serviceOf } from "@trainyard/runtime";
import type { SchedulerConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { beginTerm } from "./shell/leader.ts";

export async function createService(
  config: SchedulerConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const parts = await openParts("scheduler", config, overrides);
  const telemetry = createTelemetry(parts.registry, () => parts.clock.nowMs());
  const begin = beginTerm({ ...parts, telemetry }, config);
  return serviceOf(parts, {
    http: config.http,
    partition: new Partition(parts.name, 0, parts, begin),
  });
}
