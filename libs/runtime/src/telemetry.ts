import { collectDefaultMetrics, Registry } from "prom-client";

export { Registry };

/** A service's own registry: several services in one process do not mix their numbers. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}
