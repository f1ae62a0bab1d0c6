import { Client } from "@trainyard/client";
import { clusterAccess } from "@trainyard/local-cluster/access";
import { namedCluster } from "./environment.ts";
import { Failure, UsageError } from "./usage-error.ts";

/** The address of the cluster, and the token for its API. */
export type Access = { readonly url: string; readonly token: string };

/** Connects to TRAINYARD_URL with TRAINYARD_TOKEN, or to the cluster of the checkout. */
export function connect(): Client {
  return new Client(requireAccess());
}

/** Returns the address and token of the cluster for another program. Throws a Failure without a cluster. */
export function requireAccess(): Access {
  const access = accessIfUp();
  if (access !== null) return access;
  throw new Failure(
    'No cluster runs here. Start one with "npm run -s yard -- cluster up", or set TRAINYARD_URL and TRAINYARD_TOKEN.',
  );
}

/** Connects to the cluster; null if none is named and none runs. */
export function connectIfUp(): Client | null {
  const access = accessIfUp();
  return access === null ? null : new Client(access);
}

function accessIfUp(): Access | null {
  const { url, token } = namedCluster();
  if (url !== undefined && token !== undefined) return { url: checked(url), token };
  const cluster = clusterAccess();
  if (cluster === null) return null;
  return {
    url: url === undefined ? cluster.api : checked(url),
    token: token ?? cluster.token,
  };
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(`TRAINYARD_URL must be an http address, not ${JSON.stringify(url)}.`);
}
