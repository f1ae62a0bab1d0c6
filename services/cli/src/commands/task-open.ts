/** `yard task open`: a link that opens a task's page in a browser of this machine. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { ApiError } from "@trainyard/client";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { wholeNumberOf } from "../option-values.ts";
import { hasStarted } from "../terminal/task-place.ts";
import { listen, passingOn } from "./port-forward.ts";

type Options = { readonly port?: string; readonly local?: boolean };
type Asked = { readonly task: string; readonly port: number; readonly localPort: number };

export function addTaskOpen(group: Command): void {
  group
    .command("open")
    .argument("<task>", "t12")
    .option("--port <port>", "a further HTTP port of environment.proxy_ports")
    .option("--local", "serve the page on this machine, also if the cluster has a domain for it")
    .description("a link that opens its page in a browser; it works once")
    .action(withPlatform<Options>(open));
}

async function open(
  context: Context,
  args: readonly string[],
  { port: text, local = false }: Options,
): Promise<void> {
  const port = text === undefined ? 0 : wholeNumberOf("--port", text, 1);
  await openPage(context, { task: argument(args, 0), port, local });
}

type Page = Omit<Asked, "localPort"> & { readonly local: boolean; readonly position?: string };

/** Prints the link to a page of a task once it runs. Serves the page here if the cluster has no domain for it. */
export async function openPage(
  context: Context,
  { task, port, local, ...created }: Page,
): Promise<void> {
  const { client, output } = context;
  await hasStarted({ client, output, task, ...created });
  if (local) return serveHere(context, { task, port });
  try {
    await printLink(context, { task, port, localPort: 0 }, "");
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.code !== "no_task_domain") throw error;
    await serveHere(context, { task, port });
  }
}

/**
 * Serves the page's host on 127.0.0.1 until Ctrl-C: browsers resolve `t12.localhost` to their own machine, and each of
 * their connections is passed on to the API as it is.
 */
async function serveHere(context: Context, place: Omit<Asked, "localPort">): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const failed = Promise.withResolvers<never>();
  const path = `/api/v1/tasks/${encodeURIComponent(place.task)}/streams/page`;
  await using server = await listen(0, passingOn(path, context, failed.reject));
  const { port: localPort } = server.address() as AddressInfo;
  await printLink(context, { ...place, localPort }, "; Ctrl-C ends the page's connections");
  await Promise.race([once(stop.signal, "abort"), failed.promise]);
}

/** Prints a link. Its code is behind the #, which a browser does not send, so no server or proxy logs it. */
async function printLink({ client, output }: Context, asked: Asked, more: string): Promise<void> {
  const { url, expiresAtMs } = await client.call("createTaskSession", asked);
  output.line(output.json ? JSON.stringify({ link: url, expiresAtMs }) : url);
  const until = new Date(expiresAtMs).toTimeString().slice(0, 8);
  output.note(`the link works once, until ${until}${more}`);
}
