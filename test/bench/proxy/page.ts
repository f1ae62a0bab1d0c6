/** The client of a server's pages: a browser with the session of a task's host, or with none at another server. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import { systemClock } from "@trainyard/kernel/system-clock";
import { dialWebSocket } from "@trainyard/tunnel";

/** A server, and the headers by which it admits a request. */
export type Page = { readonly port: number; readonly headers: Readonly<Record<string, string>> };

/** Opens a session with the page of a task. */
export async function openPage(client: Client, task: string): Promise<Page> {
  const { url } = await client.call("createTaskSession", { task, port: 0, localPort: 0 });
  return openLink(url);
}

/** Opens a session with the page of a link, as a browser does. */
export async function openLink(link: string): Promise<Page> {
  const { origin, host, port, hash } = new URL(link);
  const code = new URLSearchParams(hash.slice(1)).get("code") ?? "";
  const asked = request({
    ...{ host: "127.0.0.1", port, method: "POST", path: "/.trainyard/session" },
    headers: { host, origin, "content-length": code.length },
  });
  asked.end(code);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  const cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0];
  if (cookie === undefined)
    throw new Error(`no session: the gateway answered ${answer.statusCode}`);
  return { port: Number(port), headers: { host, origin, cookie } };
}

/** Returns the agent of a client that keeps one connection. */
export const keptConnection = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 });

/** Returns the seconds of a request for this number of bytes. */
export async function secondsOfPage(
  { port, headers }: Page,
  bytes: number,
  agent: Agent,
): Promise<number> {
  const start = performance.now();
  const asked = request({ host: "127.0.0.1", port, path: `/${bytes}`, headers, agent });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  let got = 0;
  answer.on("data", (chunk: Buffer) => {
    got += chunk.length;
  });
  await once(answer, "end");
  if (got !== bytes) throw new Error(`${got} of ${bytes} bytes, status ${answer.statusCode}`);
  return (performance.now() - start) / 1_000;
}

export const openWebSocket = ({ port, headers }: Page): Promise<Duplex> =>
  dialWebSocket(`http://127.0.0.1:${port}/echo`, { clock: systemClock, headers });

/** Returns the milliseconds until a message has come back. */
export async function echoMs(webSocket: Duplex, message: Buffer): Promise<number> {
  const start = performance.now();
  webSocket.write(message);
  await once(webSocket, "data");
  return performance.now() - start;
}

/** Returns the memory of the processes for each idle WebSocket. */
export async function idleKilobytes(
  page: Page,
  count: number,
  pids: readonly number[],
): Promise<number> {
  const before = memoryKilobytes(pids);
  const webSockets: Duplex[] = [];
  while (webSockets.length < count) {
    const some = Math.min(20, count - webSockets.length);
    const opened = Array.from({ length: some }, () => openWebSocket(page));
    webSockets.push(...(await Promise.all(opened)));
  }
  await delay(count > 100 ? 5_000 : 0);
  const after = memoryKilobytes(pids);
  for (const webSocket of webSockets) webSocket.on("error", () => {}).destroy();
  return Math.max(0.1, (after - before) / count);
}

const memoryKilobytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return sum + Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }, 0);
