/** The worker thread that parses large bodies, so that the event loop stays free. */
import { answerCalls } from "@trainyard/runtime/answer-calls";
import { readBodyText } from "./body-text.ts";

answerCalls(readBodyText, (read) =>
  read.kind === "read" ? Object.values(read.bytes).map(({ buffer }) => buffer as ArrayBuffer) : [],
);
