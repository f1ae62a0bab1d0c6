/** The thread that hashes, so that commands are answered meanwhile. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import type { Manifest } from "../core/manifest.ts";
import { type FolderPlace, verifyFiles } from "./verify-files.ts";

export type VerifyQuestion = { readonly place: FolderPlace; readonly manifest: Manifest };

answerCalls(({ place, manifest }: VerifyQuestion) => verifyFiles(place, manifest));
