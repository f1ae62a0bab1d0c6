import { join } from "node:path";
import type { Home } from "./home.ts";

/** Held by the supervisor as long as it lives. */
export function supervisorLock(home: Home): string {
  return join(home.run, "supervisor.lock");
}

/** Why the last supervisor ended by itself. */
export function failureFile(home: Home): string {
  return join(home.run, "supervisor-failure.json");
}
