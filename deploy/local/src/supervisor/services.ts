import { join } from "node:path";
import { services as platformServices } from "@trainyard/kernel/services";
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

/** The services in the order of their start. They are stopped in reverse order. */
export const services: readonly ServiceEntry[] = platformServices.map(
  ({ name, readsRunTokens }) => ({
    name,
    folder: join(checkout, "services", name),
    readsRunTokens,
  }),
);

/** The main program of an agent, the same in every mode. */
export const agentMain = join(checkout, "services", "agent", "src", "main.ts");
