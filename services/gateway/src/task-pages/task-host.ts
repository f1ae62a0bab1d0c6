/**
 * The host names of tasks: `t12.DOMAIN` for the task's own page and `t12-8080.DOMAIN` for a declared port, where DOMAIN
 * is the cluster's task domain, or `localhost`, which browsers resolve to this machine. Pages of different hosts share
 * no cookies, storage or rights, so the host of a request decides before anything else what it may reach.
 */
import { isTaskId, type TaskId } from "@trainyard/kernel";

export type TaskAddress = {
  readonly task: TaskId;
  /** The declared port; 0 for the task's own page. */
  readonly port: number;
  /** The host with its port, as the browser wrote it: `t12.localhost:8080`. */
  readonly host: string;
};

export type Addressed =
  | { readonly kind: "platform" }
  | ({ readonly kind: "task" } & TaskAddress)
  /** A name below a task domain that no task has, or a host that is ambiguous: nothing is served there. */
  | { readonly kind: "nothing" };

const platform: Addressed = { kind: "platform" };
const nothing: Addressed = { kind: "nothing" };

const labelPattern = /^(t[1-9][0-9]{0,15})(?:-([1-9][0-9]{0,4}))?$/;

/** Returns what the header Host of a request names. `domain` is null in a cluster without a task domain. */
export function addressedBy(header: string | undefined, domain: string | null): Addressed {
  if (header === undefined) return platform;
  const host = header.toLowerCase();
  const name = host.replace(/:[0-9]*$/, "");
  // A dot at the end names the same server and another origin: it must not lead past the rules of either.
  const bare = name.replace(/\.+$/, "");
  const below = [domain, "localhost"].find((one) => one !== null && isBelow(bare, one));
  if (below === undefined || below === null) return platform;
  if (bare !== name) return nothing;
  const label = bare.slice(0, -below.length - 1);
  const [, task = "", port = "0"] = labelPattern.exec(label) ?? [];
  if (!isTaskId(task) || Number(port) > 65_535) return nothing;
  return { kind: "task", task, port: Number(port), host };
}

/** Whether a host belongs to a domain: the domain itself belongs to it, except localhost, where the platform may be. */
function isBelow(host: string, domain: string): boolean {
  return host.endsWith(`.${domain}`) || (host === domain && domain !== "localhost");
}

/** Returns the host of a task's page, for a browser that reaches the platform at `platformHost`. */
export function hostOfTask(
  { task, port }: Pick<TaskAddress, "task" | "port">,
  platformHost: string,
  domain: string | null,
): string {
  const label = port === 0 ? task : `${task}-${port}`;
  const portOfHost = /:[0-9]+$/.exec(platformHost)?.[0] ?? "";
  return `${label}.${domain ?? "localhost"}${portOfHost}`;
}
