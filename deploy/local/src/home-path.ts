/**
 * A home remembers its path. At another path it may be the home itself, which was moved, or a copy, whose original may
 * run at the same time: only a person knows, so nothing is started or ended there before one has told.
 */
import { realpathSync, rmSync } from "node:fs";
import { readText, writeAtomically } from "./home/atomic-file.ts";
import { ClusterError } from "./cluster-error.ts";
import type { Home } from "./home/home.ts";
import { livingRuns } from "./processes/runs.ts";
import { renewClusterId } from "./home/secrets.ts";
import { renewPlace, requireOwnDatabase } from "./servers/postgres-place.ts";

/** The relation of a home to the one at the path that it remembers. */
export type Arrival = "moved" | "copy";

/** Throws if the home remembers another path. */
export function requireItsPath(home: Home): void {
  const remembered = readText(home.pathFile)?.trim();
  const path = realpathSync(home.path);
  if (remembered === undefined || remembered === path) return;
  throw new ClusterError(
    "other_path",
    `The home ${path} was at ${remembered} when its cluster was started: if it was moved, start it with "yard cluster up --moved", and it stays the same cluster; if it is a copy, with "yard cluster up --copy", and it becomes another cluster (docs/operate/backup.md).`,
  );
}

/** Remembers the present path. At another path than the remembered one it throws, unless `arrival` is given. */
export function settleHome(home: Home, arrival: Arrival | null): void {
  const path = realpathSync(home.path);
  const remembered = readText(home.pathFile)?.trim();
  if (remembered === path) return;
  if (arrival === null) requireItsPath(home);
  if (arrival === "copy" && remembered !== undefined) becomeOwnCluster(home);
  else requireOwnDatabase(home);
  writeAtomically(home.pathFile, `${path}\n`, { durable: true });
}

/** Changes what a copy shares with its original. It may be repeated: the path is remembered after it. */
function becomeOwnCluster(home: Home): void {
  for (const file of [home.clusterFile, home.portsFile]) rmSync(file, { force: true });
  // A run that lives belongs to an agent of the original; agents adopt the runs in their folders.
  for (const { folder } of livingRuns(home)) rmSync(folder, { recursive: true, force: true });
  renewPlace(home, renewClusterId(home));
}
