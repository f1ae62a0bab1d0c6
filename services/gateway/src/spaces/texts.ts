/** Texts that an event names by digest. They are stored like model code. */
import { createHash } from "node:crypto";
import { assert } from "@trainyard/kernel";
import type { Content, ContentFile } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { readContent, storeContent } from "./contents.ts";

type Folder = Content["folder"];

/** Stores a text and returns its file. Equal texts have the same file. */
export async function storeText(
  { parts }: Backend,
  folder: Folder,
  text: string,
): Promise<ContentFile> {
  const content = Buffer.from(text);
  const digest = createHash("sha256").update(content).digest("hex");
  const file = await storeContent(parts, { folder, digest }, () => piece(content));
  assert(file !== null, "bytes were given");
  return file;
}

/** Loads a text; null if it is not stored. */
export async function loadText(
  backend: Backend,
  folder: Folder,
  digest: string,
): Promise<string | null> {
  const found = await readContent(backend.parts, { folder, digest });
  if (found === null) return null;
  const pieces: Uint8Array[] = [];
  for await (const one of found.stream) pieces.push(one);
  return Buffer.concat(pieces).toString("utf8");
}

async function* piece(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}
