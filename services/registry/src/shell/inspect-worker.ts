/** The thread that reads checkpoints again, so that commands and completions are not kept waiting. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { inspectFiles } from "./inspect-files.ts";
import type { VerifyQuestion } from "./verify-worker.ts";

answerCalls(({ place, manifest }: VerifyQuestion) => inspectFiles(place, manifest));
