/** The commands about groups of users. */
import { randomUUID } from "node:crypto";
import {
  AccessChangedSchema,
  GroupResponseSchema,
  ListGroupsResponseSchema,
} from "@trainyard/contracts/api";
import type { ReplyOf } from "@trainyard/contracts";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { printable } from "../output.ts";

export function addGroupCommands(program: Command): void {
  const group = program.command("group").description("users who get roles together");
  const named = (verb: string): Command => group.command(verb).argument("<group>");
  named("create")
    .argument("[users...]", "its first members")
    .description("a new group")
    .action(withPlatform(create));
  group
    .command("list")
    .alias("ls")
    .description("all groups, with their members")
    .action(withPlatform(list));
  named("rename")
    .argument("<name>", "the new name")
    .description("its members and roles stay")
    .action(withPlatform(rename));
  named("add")
    .argument("<users...>")
    .description("add users")
    .action(withPlatform(change("join")));
  named("remove")
    .argument("<users...>")
    .description("remove users")
    .action(withPlatform(change("leave")));
  named("delete")
    .alias("rm")
    .description("delete it, with the roles that it has")
    .action(withPlatform(remove));
}

const once = () => ({ idempotencyKey: randomUUID() });

async function create(context: Context, args: readonly string[]): Promise<void> {
  const request = { name: argument(args, 0), members: args.slice(1) };
  const answer = await context.client.call("createGroup", request, once());
  tell(context, answer, `created group ${request.name}`);
}

async function list({ client, output }: Context): Promise<void> {
  const answer = await client.call("listGroups", {});
  if (output.json) {
    output.message(ListGroupsResponseSchema, answer);
    return;
  }
  output.table(answer.items, [
    { title: "GROUP", value: ({ name }) => name },
    { title: "FROM", value: ({ fromClaim }) => (fromClaim ? "identity provider" : "") },
    {
      title: "MEMBERS",
      value: ({ id, members }) => (id === "everyone" ? "all users" : members.join(", ")),
    },
  ]);
}

async function rename(context: Context, args: readonly string[]): Promise<void> {
  const [group, name] = [argument(args, 0), argument(args, 1)];
  const answer = await context.client.call("renameGroup", { group, name }, once());
  tell(context, answer, `group ${group} is ${name} now`);
}

const change =
  (way: "join" | "leave") =>
  async (context: Context, args: readonly string[]): Promise<void> => {
    const [group, users] = [argument(args, 0), args.slice(1)];
    const request = { group, [way]: users };
    const answer = await context.client.call("changeGroupMembers", request, once());
    const words = way === "join" ? "added to" : "removed from";
    tell(context, answer, `${users.join(", ")}: ${words} ${group}`);
  };

async function remove({ client, output }: Context, args: readonly string[]): Promise<void> {
  const group = argument(args, 0);
  const answer = await client.call("deleteGroup", { group }, once());
  if (output.json) output.message(AccessChangedSchema, answer);
  else output.line(`group ${printable(group)} is deleted`);
}

function tell({ output }: Context, answer: ReplyOf<"createGroup">, sentence: string): void {
  if (output.json) output.message(GroupResponseSchema, answer);
  else output.line(printable(sentence));
}
