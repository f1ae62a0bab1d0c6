import { join } from "node:path";
import { checkout } from "../home/home.ts";

/** A service as the cluster starts it. */
export type ServiceEntry = {
  readonly name: string;
  /** Its folder, with src/main.ts (a process of its own) and src/config.ts, src/service.ts (among others in one). */
  readonly folder: string;
  /** Whether it derives or verifies the tokens of runs. */
  readonly readsRunTokens: boolean;
};

function service(name: string, readsRunTokens: boolean = false): ServiceEntry {
  return { name, folder: join(checkout, "services", name), readsRunTokens };
}

/** Services in the order of their start, those that others call first; stopped in reverse order. */
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

/** The programs that agents need; the same in every mode. */
export const agentMain = join(checkout, "services", "agent", "src", "main.ts");
