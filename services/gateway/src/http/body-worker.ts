/** The thread that reads large bodies, so that everything else is answered meanwhile. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { readBodyText } from "./body-text.ts";

answerCalls(readBodyText, (read) =>
  read.kind === "read" ? Object.values(read.bytes).map(({ buffer }) => buffer as ArrayBuffer) : [],
);
