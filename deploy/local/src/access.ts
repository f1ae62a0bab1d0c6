import { readJson, readText } from "./home/atomic-file.ts";
import type { ClusterInfo } from "./cluster-info.ts";
import { homeAt, homeFolder } from "./home/home.ts";

/**
 * The address and the token of a home's cluster, as the command line needs them; null when no cluster was ever started.
 */
export function clusterAccess(
  folder: string = homeFolder(),
): { readonly api: string; readonly token: string } | null {
  const home = homeAt(folder);
  const info = readJson(home.clusterFile) as ClusterInfo | null;
  const token = readText(home.tokenFile)?.trim();
  return info === null || token === undefined ? null : { api: info.api, token };
}
