/** The worker thread that hashes files, so that commands are answered in the meantime. */
import { systemClock } from "@trainyard/kernel/system-clock";
import { answerCalls } from "@trainyard/runtime/answer-calls";
import type { Manifest } from "../core/manifest.ts";
import {
  digestsAhead,
  type FolderPlace,
  type KnownDigest,
  type Verdict,
  verifyFiles,
} from "./verify-files.ts";

export type VerifyQuestion = {
  readonly place: FolderPlace;
  readonly manifest: Manifest;
  /** Digests that were read ahead. */
  readonly known: readonly KnownDigest[];
};

export type AheadQuestion = { readonly folder: string; readonly paths: readonly string[] };

export type HashAnswer =
  | { readonly verdict: Verdict }
  | { readonly digests: readonly KnownDigest[] };

answerCalls(async (question: VerifyQuestion | AheadQuestion): Promise<HashAnswer> => {
  if ("place" in question) {
    const { place, manifest, known } = question;
    return { verdict: await verifyFiles(place, manifest, known) };
  }
  return { digests: await digestsAhead(question.folder, question.paths, systemClock) };
});
