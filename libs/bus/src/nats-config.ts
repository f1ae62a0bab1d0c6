/**
 * The configuration file of a nats-server that belongs to a cluster on one machine: it listens on 127.0.0.1 only and
 * has the given users.
 */
import { busLimits } from "./limits.ts";
import type { Permissions } from "./permissions.ts";

export type NatsUser = {
  readonly name: string;
  /** A bcrypt hash or a plain password; with plain passwords only the owner may read the file. */
  readonly password: string;
  readonly permissions: Permissions;
};

export type NatsConfigOptions = {
  readonly port: number;
  /** The folder in which JetStream stores its data. */
  readonly storeDir: string;
  /** Without users the server requires no login. */
  readonly users?: readonly NatsUser[];
};

export function renderNatsConfig(options: NatsConfigOptions): string {
  const lines = [
    "listen: " + quote(`127.0.0.1:${options.port}`),
    "server_name: trainyard",
    `max_payload: ${busLimits.messageBytesMax}`,
    "jetstream {",
    `  store_dir: ${quote(options.storeDir)}`,
    "}",
  ];
  if (options.users !== undefined) {
    lines.push("authorization {", "  users = [", ...options.users.flatMap(renderUser), "  ]", "}");
  }
  return `${lines.join("\n")}\n`;
}

/** Returns the lines of a user in `authorization.users`. */
export function renderUser(user: NatsUser): readonly string[] {
  const { publish, subscribe, respond } = user.permissions;
  const expires = `${busLimits.replyPermissionMs / 1_000}s`;
  const responses = `      allow_responses: { max: ${busLimits.repliesPerRequest}, expires: "${expires}" }`;
  return [
    "    {",
    `      user: ${quote(user.name)}`,
    `      password: ${quote(user.password)}`,
    "      permissions: {",
    `        publish: ${renderSubjects(publish)}`,
    `        subscribe: ${renderSubjects(subscribe)}`,
    ...(respond ? [`  ${responses}`] : []),
    "      }",
    "    }",
  ];
}

/** An empty allow list would allow everything, so an explicit deny is needed. */
function renderSubjects(subjects: readonly string[]): string {
  if (subjects.length === 0) return '{ deny: [">"] }';
  return `{ allow: [${subjects.map(quote).join(", ")}] }`;
}

/** NATS's format includes JSON's escapes, and `$` begins a variable only outside quotes. */
const quote = (text: string): string => JSON.stringify(text);
