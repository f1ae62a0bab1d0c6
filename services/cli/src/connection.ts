import { Client } from "@trainyard/client";
import { clusterAccess } from "@trainyard/local-cluster/access";
import { namedCluster, namedTraceparent } from "./environment.ts";
import { type Access, currentLogin, loginAt, loginNamed, sameAddress } from "./logins.ts";
import { Failure, UsageError } from "./usage-error.ts";

/** Connects to the cluster that `requireAccess` finds. */
export function connect(): Client {
  return clientAt(requireAccess());
}

/** Returns a client whose calls are in the trace of the command's environment, if that names one. */
export function clientAt(access: Access): Client {
  return new Client({ ...access, traceparent: namedTraceparent() });
}

/** Returns the address and token of the cluster. Throws a Failure without a cluster. */
export function requireAccess(): Access {
  const access = accessIfUp();
  if (access !== null) return access;
  throw new Failure(
    'No cluster runs here. Start one with "yard cluster up", log in with "yard login", or set TRAINYARD_URL and TRAINYARD_TOKEN.',
  );
}

/** Returns the address of an experiment's page in the Web UI. */
export function experimentPage(experiment: string): string {
  return `${requireAccess().url.replace(/\/+$/, "")}/experiments/${experiment}`;
}

/** Returns the address of a task's page in the Web UI. */
export function taskPage(task: string): string {
  return `${requireAccess().url.replace(/\/+$/, "")}/tasks/${task}`;
}

/** Connects to the cluster; null if none is named and none runs. */
export function connectIfUp(): Client | null {
  const access = accessIfUp();
  return access === null ? null : clientAt(access);
}

/**
 * Returns the first of: TRAINYARD_URL and TRAINYARD_TOKEN, the login of TRAINYARD_CLUSTER, the cluster of
 * TRAINYARD_HOME, the current login, and the cluster of the checkout. The Python client looks in the same places.
 */
function accessIfUp(): Access | null {
  const { url, token, login, home } = namedCluster();
  if (url !== undefined) {
    const access = token === undefined ? accessAt(checked(url)) : { url: checked(url), token };
    if (access === null) throw new UsageError(`Set TRAINYARD_TOKEN: there is no token for ${url}.`);
    return access;
  }
  const embedded = (): Access | null => {
    const cluster = clusterAccess();
    return cluster === null ? null : { url: cluster.api, token: cluster.token };
  };
  const found =
    login !== undefined
      ? loginNamed(login)
      : ((home === undefined ? currentLogin() : null) ?? embedded());
  return found === null || token === undefined ? found : { url: found.url, token };
}

/** Returns the access with the token of this address: a token is sent only to its own cluster. */
function accessAt(url: string): Access | null {
  const embedded = clusterAccess();
  if (embedded !== null && sameAddress(embedded.api, url)) return { url, token: embedded.token };
  return loginAt(url);
}

function checked(url: string): string {
  if (isHttp(url)) return url;
  throw new UsageError(`TRAINYARD_URL must be an http address, not ${JSON.stringify(url)}.`);
}

export function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
