/** Stores submissions unchanged, by their digest. */
import { codecOf, type Plain } from "@trainyard/contracts";
import { type SubmissionRecord, SubmissionRecordSchema } from "@trainyard/contracts/api";
import type { ContentFile } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { loadText, storeText } from "./texts.ts";

const folder = "submissions";
const codec = codecOf<Plain<SubmissionRecord>>(SubmissionRecordSchema);

export function storeSubmission(
  backend: Backend,
  record: Plain<SubmissionRecord>,
): Promise<ContentFile> {
  return storeText(backend, folder, codec.encode(record));
}

/** Loads a submission; undefined if it is not stored. */
export async function loadSubmission(
  backend: Backend,
  digest: string,
): Promise<Plain<SubmissionRecord> | undefined> {
  if (digest === "") return undefined;
  const text = await loadText(backend, folder, digest);
  return text === null ? undefined : codec.decode(text);
}
