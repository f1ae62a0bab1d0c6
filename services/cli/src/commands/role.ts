/** The commands about roles, and about who has which. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  AccessChangedSchema,
  type Grant,
  GrantResponseSchema,
  ListGrantsResponseSchema,
  ListRolesResponseSchema,
  RoleResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect } from "../option-values.ts";
import { type Column, type Output, printable } from "../output.ts";
import { UsageError } from "../usage-error.ts";
import { place } from "./role-words.ts";

type Definition = { readonly permission?: readonly string[]; readonly description: string };
type Holder = { readonly user?: string; readonly group?: string; readonly workspace?: string };

export function addRoleCommands(program: Command): void {
  const role = program.command("role").description("what users and groups may do, and where");
  role
    .command("list")
    .alias("ls")
    .description("all roles, with their permissions")
    .action(withPlatform(list));
  role
    .command("define")
    .argument("<role>")
    .option("--permission <name>", "such as experiment_view; may be given several times", collect)
    .option("--description <text>", "what it is for", "")
    .description("a role of your own; an existing one gets this definition")
    .action(withPlatform<Definition>(define));
  role
    .command("delete")
    .alias("rm")
    .argument("<role>")
    .description("delete a role of your own; all who have it lose it")
    .action(withPlatform(remove));
  withHolder(role.command("give").argument("<role>"))
    .description("give it to a user or a group")
    .action(withPlatform<Holder>(give));
  withHolder(role.command("take").argument("<role>"))
    .description("take it from a user or a group")
    .action(withPlatform<Holder>(take));
  role
    .command("holders")
    .option("--user <user>", "roles of the user itself; --group lists those of its groups")
    .option("--group <group>")
    .option("--workspace <workspace>", "roles there; all that you may see if absent")
    .description("who has which role, as far as you may see it")
    .action(withPlatform<Holder>(holders));
}

const withHolder = (command: Command): Command =>
  command
    .option("--user <user>")
    .option("--group <group>")
    .option("--workspace <workspace>", "where; everywhere if absent");

const once = () => ({ idempotencyKey: randomUUID() });

async function list({ client, output }: Context): Promise<void> {
  const answer = await client.call("listRoles", {});
  if (output.json) {
    output.message(ListRolesResponseSchema, answer);
    return;
  }
  output.table(answer.items, [
    { title: "ROLE", value: ({ name }) => name },
    { title: "", value: ({ builtIn }) => (builtIn ? "built in" : "") },
    { title: "DESCRIPTION", value: ({ description }) => description },
    { title: "PERMISSIONS", value: ({ permissions }) => permissions.join(" ") },
  ]);
}

async function define(
  { client, output }: Context,
  args: readonly string[],
  { permission: permissions = [], description }: Definition,
): Promise<void> {
  if (permissions.length === 0) throw new UsageError("Give at least one --permission.");
  const request = { role: argument(args, 0), description, permissions: [...permissions] };
  const answer = await client.call("defineRole", request, once());
  if (output.json) output.message(RoleResponseSchema, answer);
  else output.line(`role ${printable(request.role)} is defined`);
}

async function remove({ client, output }: Context, args: readonly string[]): Promise<void> {
  const role = argument(args, 0);
  const answer = await client.call("deleteRole", { role }, once());
  if (output.json) output.message(AccessChangedSchema, answer);
  else output.line(`role ${printable(role)} is deleted`);
}

async function give(context: Context, args: readonly string[], holder: Holder): Promise<void> {
  const { client, output } = context;
  const request = { role: argument(args, 0), ...oneHolder(holder) };
  const answer = await client.call("giveRole", request, once());
  if (output.json) output.message(GrantResponseSchema, answer);
  else output.line(printable(`${nameOf(request)} is ${request.role} ${place(request.workspace)}`));
}

async function take(context: Context, args: readonly string[], holder: Holder): Promise<void> {
  const { client, output } = context;
  const [role, asked] = [argument(args, 0), oneHolder(holder)];
  const { items } = await client.call("listGrants", asked);
  // Without a workspace the list has the roles in all of them, too.
  const found = items.find(
    (one) => one.role === role && (one.workspace === "") === (asked.workspace === ""),
  );
  const words = `${role} ${place(asked.workspace)}`;
  if (found === undefined) {
    throw new UsageError(printable(`${nameOf(asked)} does not have the role ${words}.`));
  }
  const answer = await client.call("takeRole", { grant: found.id }, once());
  if (output.json) output.message(AccessChangedSchema, answer);
  else output.line(printable(`${nameOf(asked)} is no longer ${words}`));
}

function oneHolder({ user = "", group = "", workspace = "" }: Holder) {
  if ((user === "") === (group === "")) throw new UsageError("Give --user or --group.");
  return { user, group, workspace };
}

const nameOf = ({ user, group }: { readonly user: string; readonly group: string }): string =>
  user === "" ? `group ${group}` : user;

async function holders(
  { client, output }: Context,
  _args: readonly string[],
  asked: Holder,
): Promise<void> {
  const { user = "", group = "", workspace = "" } = asked;
  showGrants(output, await client.call("listGrants", { user, group, workspace }));
}

/** Prints who has which role in a workspace. */
export async function members({ client, output }: Context, args: readonly string[]): Promise<void> {
  showGrants(output, await client.call("listGrants", { workspace: argument(args, 0) }));
}

function showGrants(output: Output, answer: { readonly items: readonly Plain<Grant>[] }): void {
  if (output.json) output.message(ListGrantsResponseSchema, { items: [...answer.items] });
  else output.table(answer.items, grantColumns);
}

const grantColumns: readonly Column<Plain<Grant>>[] = [
  { title: "USER", value: ({ user }) => user },
  { title: "GROUP", value: ({ group }) => group },
  { title: "ROLE", value: ({ role }) => role },
  { title: "WHERE", value: ({ workspace }) => place(workspace) },
];
