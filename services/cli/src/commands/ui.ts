import { ApiError, type Client } from "@trainyard/client";
import type { Command } from "commander";
import { requireAccess } from "../connection.ts";
import { type Context, withPlatform } from "../context.ts";

export function addUiCommand(program: Command): void {
  program
    .command("ui")
    .description("a link that signs a browser in to the Web UI; it works once")
    .action(withPlatform(async (context) => ui(context)));
}

async function ui({ client, output }: Context): Promise<void> {
  const { link, expiresAtMs, until } = await signInLink(client, requireAccess().url);
  if (output.json) output.line(JSON.stringify({ link, expiresAtMs }));
  else output.line(link);
  output.note(`the link works once, until ${until}`);
}

export type SignInLink = {
  readonly link: string;
  readonly expiresAtMs: number;
  /** The time of `expiresAtMs` as local time of day. */
  readonly until: string;
};

/** Makes a sign-in link. The code is after the #, which a browser does not send, so no server or proxy logs it. */
export async function signInLink(client: Client, url: string): Promise<SignInLink> {
  const { code, expiresAtMs } = await client.call("createSessionCode", {});
  const until = new Date(expiresAtMs).toTimeString().slice(0, 5);
  return { link: `${url.replace(/\/+$/, "")}/#code=${code}`, expiresAtMs, until };
}

/**
 * Returns the address of the Web UI that a started cluster prints, and what to do there. It is a link, except if the
 * token of the host was revoked or its account disabled.
 */
export async function webWords(
  client: Client,
  url: string,
): Promise<{ readonly address: string; readonly note: string }> {
  try {
    const { link, until } = await signInLink(client, url);
    return { address: link, note: `the link works once, until ${until}; "yard ui" prints another` };
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.status !== 401) throw error;
    const note = `sign in with your name and password: the token of this host gives no link, since ${error.problem.detail}`;
    return { address: url, note };
  }
}
