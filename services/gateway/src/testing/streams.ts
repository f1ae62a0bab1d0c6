/** A client that reads a stream at a chosen speed, and the files that this process has open. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import type { TestGateway } from "./test-gateway.ts";

/** Opens a stream. It resolves at the head of the answer, before any of its body is read. */
export function openStream(
  gateway: Pick<TestGateway, "url" | "token">,
  path: string,
  method: "GET" | "POST" = "GET",
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${gateway.token}` };
    request(`${gateway.url}${path}`, { method, agent: false, headers }, resolve)
      .on("error", reject)
      .end();
  });
}

/** Sends the head of a request whose body never arrives. Returns the answer, and a function that disconnects. */
export function sendHead(
  url: string,
  headers: Readonly<Record<string, string | number>>,
): { readonly answer: Promise<IncomingMessage>; readonly hangUp: () => void } {
  const sent = request(url, { method: "POST", agent: false, headers });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", (response) => resolve(response.resume())).on("error", reject);
  });
  answer.catch(() => {});
  sent.flushHeaders();
  return { answer, hangUp: () => sent.destroy() };
}

/** Reads the rest of a stream; throws if the connection breaks. */
export async function restOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Returns the files below a folder that this process and its children have open. */
export async function openBelow(folder: string): Promise<readonly string[]> {
  const tasks = await readdir("/proc/self/task");
  const children = tasks.map((task) =>
    readFile(`/proc/self/task/${task}/children`, "utf8").catch(() => ""),
  );
  const pids = (await Promise.all(children)).join(" ").split(" ").filter(Boolean);
  const places = await Promise.all(["self", ...pids].map((pid) => openIn(`/proc/${pid}/fd`)));
  return places.flat().filter((place) => place.startsWith(folder));
}

async function openIn(table: string): Promise<readonly string[]> {
  const fds = await readdir(table).catch(() => []);
  return Promise.all(fds.map((fd) => readlink(join(table, fd)).catch(() => "")));
}

/** The text of a stream so far, kept up to date. */
export class StreamText {
  text = "";
  readonly ended: Promise<void>;

  constructor(stream: IncomingMessage) {
    stream.on("data", (chunk: Buffer) => {
      this.text += chunk.toString();
    });
    this.ended = new Promise((resolve) => {
      stream.on("close", resolve).on("error", () => {});
    });
  }
}
