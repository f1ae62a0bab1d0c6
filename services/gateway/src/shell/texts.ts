/** Texts that an event names by their digest, stored beside the model code. */
import { createHash } from "node:crypto";
import type { Backend } from "./backend.ts";

const keyOf = (folder: string, digest: string): string => `${folder}/${digest}.json`;

/** The digest under which it is stored. The same text has the same one. */
export async function storeText({ parts }: Backend, folder: string, text: string): Promise<string> {
  const content = Buffer.from(text);
  const digest = createHash("sha256").update(content).digest("hex");
  const key = keyOf(folder, digest);
  // What is there is whole, and has these bytes.
  if ((await parts.blobs.stat(key)) === null) await parts.blobs.put(key, piece(content), digest);
  return digest;
}

/** Null where none is stored. */
export async function loadText(
  { parts }: Backend,
  folder: string,
  digest: string,
): Promise<string | null> {
  const found = await parts.blobs.get(keyOf(folder, digest));
  if (found === null) return null;
  const pieces: Uint8Array[] = [];
  for await (const one of found.stream) pieces.push(one);
  return Buffer.concat(pieces).toString("utf8");
}

async function* piece(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}
