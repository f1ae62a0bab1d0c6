import { Client } from "@trainyard/client";
import { clusterAccess } from "@trainyard/local-cluster/access";
import { namedCluster } from "./environment.ts";
import { Failure, UsageError } from "./usage-error.ts";

/** Where the cluster is, and by which token it is asked. */
export type Access = { readonly url: string; readonly token: string };

/** TRAINYARD_URL and TRAINYARD_TOKEN, else the cluster of the checkout. */
export function connect(): Client {
  return new Client(requireAccess());
}

/** The same for a program that asks the platform itself. */
export function requireAccess(): Access {
  const access = accessIfUp();
  if (access !== null) return access;
  throw new Failure(
    'No cluster runs here. Start one with "npm run -s yard -- cluster up", or set TRAINYARD_URL and TRAINYARD_TOKEN.',
  );
}

/** The same, or null where no cluster is named and none runs. */
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
