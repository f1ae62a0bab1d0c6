/** The commands about the identities by which people sign in at identity providers. */
import { randomUUID } from "node:crypto";
import { UserResponseSchema, UserSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { printable } from "../output.ts";
import { UsageError } from "../usage-error.ts";

export function addIdentityCommands(group: Command): void {
  const identity = group
    .command("identity")
    .description("the accounts at identity providers by which people sign in");
  identity
    .command("list")
    .alias("ls")
    .argument("[user]", "name or id; yourself without it")
    .description("the identities of a user; others than admins see only their own subjects")
    .action(withPlatform(list));
  const changed = (verb: string): Command =>
    identity
      .command(verb)
      .argument("<user>", "name or id")
      .argument("<issuer>", "the address of the identity provider, as its tokens have it")
      .argument("<subject>", "the person's claim sub there");
  changed("add")
    .description("let a person sign in by an identity, too; you add your own on the page Account")
    .action(withPlatform(change("add")));
  changed("remove")
    .alias("rm")
    .description("a person can no longer sign in by an identity; the person's sessions end")
    .action(withPlatform(change("remove")));
}

async function list({ client, output }: Context, [named]: readonly string[]): Promise<void> {
  const user =
    named === undefined
      ? (await client.call("getMe", {})).user
      : await client.call("getUser", { user: named });
  if (user === undefined) throw new UsageError("This cluster has no users.");
  if (output.json) {
    output.message(UserSchema, user);
    return;
  }
  output.table(user.identities, [
    { title: "ISSUER", value: ({ issuer }) => issuer },
    { title: "SUBJECT", value: ({ subject }) => subject },
  ]);
}

const change =
  (verb: "add" | "remove") =>
  async ({ client, output }: Context, args: readonly string[]): Promise<void> => {
    const user = argument(args, 0);
    const identity = { issuer: argument(args, 1), subject: argument(args, 2) };
    const asked = verb === "add" ? { addIdentity: identity } : { removeIdentity: identity };
    const once = { idempotencyKey: randomUUID() };
    const answer = await client.call("updateUser", { user, ...asked }, once);
    if (output.json) output.message(UserResponseSchema, answer);
    else output.line(printable(`${user} ${words[verb]} ${identity.subject} of ${identity.issuer}`));
  };

const words = { add: "signs in by", remove: "no longer signs in by" } as const;
