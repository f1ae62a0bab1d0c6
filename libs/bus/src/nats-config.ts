/**
 * The configuration of a nats-server: its users, and the whole file of a server that belongs to a cluster on one
 * machine and listens on 127.0.0.1 only.
 */
import { busLimits } from "./limits.ts";
import { type BusPrincipal, busUserOf, type Permissions, permissionsOf } from "./permissions.ts";

export type NatsUser = {
  readonly name: string;
  /**
   * A bcrypt hash or a plain password, with which only the owner may read the file, or the variable of the server's
   * environment that has one of them.
   */
  readonly password: string | { readonly variable: string };
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
  const users = options.users === undefined ? "" : renderAuthorization(options.users);
  return `${lines.join("\n")}\n${users}`;
}

/** Returns the part of the configuration with the users: nobody else may connect. */
export function renderAuthorization(users: readonly NatsUser[]): string {
  const lines = ["authorization {", "  users = [", ...users.flatMap(renderUser), "  ]", "}"];
  return `${lines.join("\n")}\n`;
}

/** Returns the users of principals, each with its permissions. */
export function natsUsersOf(
  principals: readonly BusPrincipal[],
  passwordOf: (user: string) => NatsUser["password"],
): readonly NatsUser[] {
  return principals.map((principal) => {
    const name = busUserOf(principal);
    return { name, password: passwordOf(name), permissions: permissionsOf(principal) };
  });
}

/** Returns the lines of a user in `authorization.users`. */
export function renderUser(user: NatsUser): readonly string[] {
  const { publish, subscribe, respond } = user.permissions;
  const expires = `${busLimits.replyPermissionMs / 1_000}s`;
  const responses = `      allow_responses: { max: ${busLimits.repliesPerRequest}, expires: "${expires}" }`;
  return [
    "    {",
    `      user: ${quote(user.name)}`,
    `      password: ${renderPassword(user.password)}`,
    "      permissions: {",
    `        publish: ${renderSubjects(publish)}`,
    `        subscribe: ${renderSubjects(subscribe)}`,
    ...(respond ? [`  ${responses}`] : []),
    "      }",
    "    }",
  ];
}

const renderPassword = (password: NatsUser["password"]): string =>
  typeof password === "string" ? quote(password) : `$${password.variable}`;

/** An empty allow list would allow everything, so an explicit deny is needed. */
function renderSubjects(subjects: readonly string[]): string {
  if (subjects.length === 0) return '{ deny: [">"] }';
  return `{ allow: [${subjects.map(quote).join(", ")}] }`;
}

/** NATS's format includes JSON's escapes, and `$` begins a variable only outside quotes. */
const quote = (text: string): string => JSON.stringify(text);
