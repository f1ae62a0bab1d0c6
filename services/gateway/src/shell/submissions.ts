/** Submissions as they were made, stored by their digest beside the model code. */
import { createHash } from "node:crypto";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type SubmissionRecord, SubmissionRecordSchema } from "@trainyard/contracts/api";
import type { Backend } from "./backend.ts";

const keyOf = (digest: string): string => `submissions/${digest}.json`;
const codec = codecOf<Plain<SubmissionRecord>>(SubmissionRecordSchema);

/** The digest under which it is stored. The same submission has the same one. */
export async function storeSubmission(
  { parts }: Backend,
  record: Plain<SubmissionRecord>,
): Promise<string> {
  const content = Buffer.from(codec.encode(record));
  const digest = createHash("sha256").update(content).digest("hex");
  await parts.blobs.put(keyOf(digest), piece(content), digest);
  return digest;
}

/** Undefined where none is stored. */
export async function loadSubmission(
  { parts }: Backend,
  digest: string | undefined,
): Promise<Plain<SubmissionRecord> | undefined> {
  if (digest === undefined || digest === "") return undefined;
  const found = await parts.blobs.get(keyOf(digest));
  if (found === null) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const one of found.stream) pieces.push(one);
  return codec.decode(Buffer.concat(pieces).toString("utf8"));
}

async function* piece(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}
