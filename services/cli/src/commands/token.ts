/** The commands about tokens of the API. */
import type { Plain } from "@trainyard/contracts";
import {
  CreateTokenResponseSchema,
  ListTokensResponseSchema,
  RevokeTokenResponseSchema,
  type Token,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect, secondsOf } from "../option-values.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";

export function addTokenCommands(program: Command): void {
  const group = program.command("token").description("tokens for calls of the API");
  group
    .command("create")
    .option("--label <text>", "what it is for", "")
    .option(
      "--ttl <duration>",
      "seconds, or with a unit: 30m, 12h, 7d; by default it expires with your token, if that expires, and never later",
    )
    .option("--role <role>", "the role that limits it; by default it may do what you may", "")
    .option("--workspace <name>", "a workspace that it is limited to; repeatable", collect)
    .option("--user <name>", "the service account that it belongs to, for admins", "")
    .description("a new token; its secret is shown once")
    .action(withPlatform<TokenOptions>(createToken));
  group
    .command("list")
    .alias("ls")
    .option("--all", "those of all users, for admins")
    .description("your tokens, without their secrets")
    .action(withPlatform<{ all?: boolean }>(listTokens));
  group
    .command("revoke")
    .argument("<token>", "its id")
    .description("revoke it, and all tokens that were created with it: their calls are refused")
    .action(
      withPlatform(async ({ client, output }, args) => {
        const answer = await client.call("revokeToken", { token: argument(args, 0) });
        if (output.json) output.message(RevokeTokenResponseSchema, answer);
        output.note(`token ${argument(args, 0)} is revoked`);
        for (const name of answer.subscriptions) {
          output.note(
            `subscription ${name} stops with it: yard subscription adopt ${name} continues it`,
          );
        }
      }),
    );
}

type TokenOptions = {
  readonly label: string;
  readonly ttl?: string;
  readonly role: string;
  readonly workspace?: readonly string[];
  readonly user: string;
};

async function createToken(
  { client, output }: Context,
  _args: readonly string[],
  { label, ttl, role, workspace = [], user }: TokenOptions,
): Promise<void> {
  const ttlSeconds = ttl === undefined ? 0 : secondsOf("--ttl", ttl);
  const limits = { role, workspaces: [...workspace] };
  const answer = await client.call("createToken", { label, ttlSeconds, ...limits, user });
  if (output.json) {
    output.message(CreateTokenResponseSchema, answer);
    return;
  }
  const { id, expiresAtMs } = answer.token ?? { id: "" };
  const end = expiresAtMs === undefined ? "does not expire" : `expires at ${time(expiresAtMs)} UTC`;
  output.note(`token ${id} ${end}; its secret is not shown again:`);
  output.line(answer.secret);
}

async function listTokens(
  { client, output }: Context,
  _args: readonly string[],
  { all = false }: { readonly all?: boolean },
): Promise<void> {
  const page = await allPages((start) => client.call("listTokens", { ...start, all }));
  if (output.json) {
    output.message(ListTokensResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "TOKEN", value: ({ id }) => id },
    { title: "LABEL", value: ({ label }) => label },
    { title: "OWNER", value: ({ owner }) => owner },
    { title: "LIMITS", value: limitsOf },
    { title: "CREATED", value: (one) => time(one.createdAtMs) },
    { title: "USED", value: (one) => time(one.lastUsedAtMs) },
    { title: "EXPIRES", value: (one) => time(one.expiresAtMs) },
    { title: "", value: (one) => (one.revoked ? "revoked" : "") },
  ]);
}

const limitsOf = ({ role, workspaces }: Pick<Plain<Token>, "role" | "workspaces">): string =>
  [role, workspaces.join(", ")].filter((part) => part !== "").join(" in ");
