import { join } from "node:path";
import { checkout } from "../home/home.ts";

/** A service as the cluster starts it. */
export type ServiceEntry = {
  readonly name: string;
  /**
   * The service's folder, with src/main.ts (to run in its own process) and src/config.ts, src/service.ts (to run with
   * others).
   */
  readonly folder: string;
  /** Whether the service derives or verifies the tokens of runs. */
  readonly readsRunTokens: boolean;
};

function service(name: string, readsRunTokens: boolean = false): ServiceEntry {
  return { name, folder: join(checkout, "services", name), readsRunTokens };
}

/** The services in the order of their start: called ones before their callers. They are stopped in reverse order. */
export const services: readonly ServiceEntry[] = [
  service("relay"),
  service("registry", true),
  service("metrics", true),
  service("logs", true),
  service("checkpoint-gc"),
  service("scheduler", true),
  service("searcher"),
  service("experiments"),
  service("gateway", true),
];

/** The main program of an agent, the same in every mode. */
export const agentMain = join(checkout, "services", "agent", "src", "main.ts");
