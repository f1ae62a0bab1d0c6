/** A client that reads a stream as slowly as it likes, and the files that this process holds open. */
import { readdir, readlink } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import type { TestGateway } from "./test-gateway.ts";

/** The answer's head has come; nothing of its body is read yet. */
export function openStream(gateway: TestGateway, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${gateway.token}` };
    get(`${gateway.url}${path}`, { agent: false, headers }, resolve).on("error", reject);
  });
}

/** Everything that still comes; throws when the connection breaks off. */
export async function restOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What of a folder this process has open. */
export async function openBelow(folder: string): Promise<readonly string[]> {
  const places = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  return places.filter((place) => place.startsWith(folder));
}
