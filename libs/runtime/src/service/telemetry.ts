import { collectDefaultMetrics, Registry } from "prom-client";

export { Registry };

/** Creates a separate registry per service, so that several services in one process do not mix their metrics. */
export function createRegistry(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Returns the label of an enum's value: agent_lost for AGENT_LOST. */
export function enumLabel(names: Readonly<Record<string, number>>, value: number): string {
  const name = Object.keys(names).find((key) => names[key] === value);
  return (name ?? "unknown").toLowerCase();
}
