import { join } from "node:path";
import type { Home } from "./home.ts";

/** The lock of a home: its supervisor holds it together with all processes that it has started, except runs. */
export function supervisorLock(home: Home): string {
  return join(home.run, "supervisor.lock");
}

/** The identity of the supervisor that last had the lock. */
export function supervisorFile(home: Home): string {
  return join(home.run, "supervisor.json");
}

/** The file with the reason for which the last supervisor ended by itself. */
export function failureFile(home: Home): string {
  return join(home.run, "supervisor-failure.json");
}
