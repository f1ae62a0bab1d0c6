/** The commands about users, and the caller's own account. */
import { randomUUID } from "node:crypto";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import {
  CreateUserResponseSchema,
  ListUsersResponseSchema,
  type Me,
  MeSchema,
  ResetPasswordResponseSchema,
  type User,
  UserResponseSchema,
  UserSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { type Column, printable, time } from "../output.ts";
import { allPages } from "../pages.ts";
import { newPassword, type PasswordOptions, passwordChange } from "../password.ts";
import { UsageError } from "../usage-error.ts";
import { addResetAdmin } from "./reset-admin.ts";
import { place } from "./role-words.ts";
import { addIdentityCommands } from "./user-identity.ts";

type CreateOptions = PasswordOptions & {
  readonly displayName?: string;
  readonly email?: string;
  readonly service?: boolean;
  readonly admin?: boolean;
  readonly password?: boolean;
};
type UpdateOptions = { readonly displayName?: string; readonly email?: string };

export function addUserCommands(program: Command): void {
  const group = program.command("user").description("people, and service accounts");
  const named = (verb: string): Command => group.command(verb).argument("<user>", "name or id");
  withWords(group.command("create").argument("<name>"))
    .option("--admin", "the user is a cluster admin, as the first person is")
    .option("--service", "a service account, which has tokens and no password")
    .option("--password", "type the password, instead of getting a random one")
    .option("--stdin", "read the password from stdin")
    .description("a new user; a random password is shown once")
    .action(withPlatform<CreateOptions>(create));
  group
    .command("list")
    .alias("ls")
    .option("--prefix <text>", "only users whose name begins with it", "")
    .description("all users, by name")
    .action(withPlatform<{ prefix: string }>(list));
  named("show").description("one user").action(withPlatform(show));
  named("rename")
    .argument("<name>", "the new name")
    .description("what the user owns is listed under the new name")
    .action(withPlatform(rename));
  withWords(named("update"))
    .description("change the display name or the address")
    .action(withPlatform<UpdateOptions>(update));
  named("disable")
    .option("--reason <text>", "why", "")
    .description("end the user's tokens, sessions and streams at once; trials continue")
    .action(withPlatform<{ reason: string }>(disable));
  named("enable").description("let the user sign in again").action(withPlatform(enable));
  named("reset")
    .description("a new random password, which is shown once; the user's sessions end")
    .action(withPlatform(reset));
  group
    .command("password")
    .option("--stdin", "read the present password and the new one from stdin, a line each")
    .description("change your own password; your other sessions end")
    .action(withPlatform<PasswordOptions>(changePassword));
  addResetAdmin(group);
  addIdentityCommands(group);
  program
    .command("whoami")
    .description("the user of your token, with roles and permissions")
    .action(withPlatform(whoami));
}

const withWords = (command: Command): Command =>
  command.option("--display-name <text>", "the name of the person").option("--email <address>");

const once = () => ({ idempotencyKey: randomUUID() });

async function create(
  { client, output }: Context,
  args: readonly string[],
  { displayName = "", email = "", service = false, admin = false, ...more }: CreateOptions,
): Promise<void> {
  const chosen = more.password === true || more.stdin === true;
  if (service && chosen) throw new UsageError("A service account has no password.");
  const password = chosen ? await newPassword(more) : "";
  const kind = service ? "service" : "person";
  const { hasUsers } = await client.call("getMe", {});
  const request = { name: argument(args, 0), displayName, email, kind, password, admin };
  const answer = await client.call("createUser", request);
  const name = printable(answer.user?.name ?? request.name);
  if (!hasUsers) {
    output.note(`${name} is the first user and a cluster admin`);
    output.note("tokens made before belong to the service account local from now on");
  }
  if (output.json) output.message(CreateUserResponseSchema, answer);
  else if (answer.password === "") output.line(`created user ${name}`);
  else tellPassword(output, `created user ${name}, whose password`, answer.password);
}

/** Prints a password to stdout alone, so that a program can store it. */
function tellPassword(output: Context["output"], subject: string, password: string): void {
  output.note(`${subject} is not shown again:`);
  output.line(password);
}

async function list(
  { client, output }: Context,
  _args: readonly string[],
  { prefix }: { readonly prefix: string },
): Promise<void> {
  const page = await allPages((start) => client.call("listUsers", { prefix, ...start }));
  if (output.json) output.message(ListUsersResponseSchema, page);
  else output.table(page.items, columns);
}

const columns: readonly Column<Plain<User>>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "KIND", value: ({ kind }) => kind },
  { title: "STATE", value: ({ disabled }) => (disabled ? "disabled" : "") },
  { title: "DISPLAY NAME", value: ({ displayName }) => displayName },
  { title: "EMAIL", value: ({ email }) => email },
  { title: "GROUPS", value: ({ groups }) => groups.join(", ") },
  { title: "CREATED", value: (one) => time(one.createdAtMs) },
];

async function show({ client, output }: Context, args: readonly string[]): Promise<void> {
  const user = await client.call("getUser", { user: argument(args, 0) });
  output.show(UserSchema, user, () => fieldsOf(user));
}

const fieldsOf = (user: Plain<User>): readonly (readonly [string, string])[] => [
  ["user", user.name],
  ["id", user.id],
  ["kind", user.kind],
  ["state", user.disabled ? "disabled" : ""],
  ["display name", user.displayName],
  ["email", user.email],
  ["groups", user.groups.join(", ")],
  ["signs in", waysOf(user).join(", ")],
  ["created", time(user.createdAtMs)],
];

const waysOf = ({ hasPassword, identities }: Plain<User>): readonly string[] => [
  ...(hasPassword ? ["password"] : []),
  ...identities.map(({ issuer }) => issuer),
];

async function rename(context: Context, args: readonly string[]): Promise<void> {
  const [user, name] = [argument(args, 0), argument(args, 1)];
  const answer = await context.client.call("updateUser", { user, name }, once());
  tell(context, answer, `${user} is ${answer.user?.name ?? name} now`);
}

async function update(
  context: Context,
  args: readonly string[],
  { displayName, email }: UpdateOptions,
): Promise<void> {
  if (displayName === undefined && email === undefined) {
    throw new UsageError("Give --display-name or --email.");
  }
  const user = argument(args, 0);
  const words = {
    ...(displayName === undefined ? {} : { displayName }),
    ...(email === undefined ? {} : { email }),
  };
  const answer = await context.client.call("updateUser", { user, ...words }, once());
  tell(context, answer, `user ${user} is changed`);
}

async function disable(
  context: Context,
  args: readonly string[],
  { reason }: { readonly reason: string },
): Promise<void> {
  const user = argument(args, 0);
  const answer = await context.client.call("disableUser", { user, reason }, once());
  tell(context, answer, `user ${user} is disabled`);
}

async function enable(context: Context, args: readonly string[]): Promise<void> {
  const user = argument(args, 0);
  const answer = await context.client.call("enableUser", { user }, once());
  tell(context, answer, `user ${user} is enabled`);
}

async function reset({ client, output }: Context, args: readonly string[]): Promise<void> {
  const user = argument(args, 0);
  const answer = await client.call("resetPassword", { user });
  if (output.json) output.message(ResetPasswordResponseSchema, answer);
  else tellPassword(output, `the new password of ${printable(user)}`, answer.password);
}

async function changePassword(
  context: Context,
  _args: readonly string[],
  options: PasswordOptions,
): Promise<void> {
  const answer = await context.client.call("setPassword", await passwordChange(options));
  tell(context, answer, "your password is changed");
}

function tell({ output }: Context, answer: ReplyOf<"updateUser">, sentence: string): void {
  if (output.json) output.message(UserResponseSchema, answer);
  else output.line(printable(sentence));
}

async function whoami({ client, output }: Context): Promise<void> {
  const me = await client.call("getMe", {});
  output.show(MeSchema, me, () => (me.hasUsers ? rightsOf(me) : [["user", anybody]]));
}

const anybody = "none: this cluster has no users, and every token may do everything";

const rightsOf = ({ user, token, ...me }: Plain<Me>): readonly (readonly [string, string])[] => [
  ["user", user?.name ?? ""],
  ["kind", user?.kind ?? ""],
  ["groups", user?.groups.join(", ") ?? ""],
  ["token", token],
  ["roles", me.roles.map(roleText).join("\n")],
  ["everywhere", me.permissions.join(", ")],
  ...me.workspaces.map(({ workspace, permissions }): [string, string] => [
    `in ${printable(workspace)}`,
    permissions.join(", "),
  ]),
];

function roleText({ role, workspace, group }: Plain<Me>["roles"][number]): string {
  return `${role} ${place(workspace)}${group === "" ? "" : `, by the group ${group}`}`;
}
