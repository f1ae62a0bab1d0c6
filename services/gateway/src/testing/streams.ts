/** A client that reads a stream at a chosen speed, and the files that this process has open. */
import { readdir, readlink } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import type { TestGateway } from "./test-gateway.ts";

/** Opens a stream. It resolves at the head of the answer, before any of its body is read. */
export function openStream(
  gateway: TestGateway,
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

/** Returns the files below a folder that this process has open. */
export async function openBelow(folder: string): Promise<readonly string[]> {
  const places = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  return places.filter((place) => place.startsWith(folder));
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
