import { type Overrides, openParts, Partition, type Service, serviceOf } from "@trainyard/runtime";
import type { SearcherConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { ThreadModel } from "./shell/model/thread-model.ts";
import { beginTerm } from "./shell/leader.ts";

export async function createService(
  config: SearcherConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const parts = await openParts("searcher", config, overrides);
  const model = parts.stack.use(new ThreadModel());
  const begin = beginTerm({ ...parts, telemetry: createTelemetry(parts.registry), model });
  return serviceOf(parts, {
    http: config.http,
    partition: new Partition(parts.name, 0, parts, begin),
  });
}
