import { join } from "node:path";
import type { Home } from "./home.ts";

/** The path of the lock that a supervisor holds as long as it lives. */
export function supervisorLock(home: Home): string {
  return join(home.run, "supervisor.lock");
}

/** The file with the reason for which the last supervisor ended by itself. */
export function failureFile(home: Home): string {
  return join(home.run, "supervisor-failure.json");
}
