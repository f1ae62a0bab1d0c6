/** The other side of `thread-model.ts`: a question in, its answer out. */
import { parentPort } from "node:worker_threads";
import { assert } from "@trainyard/kernel";
import { answerTo } from "@trainyard/search";
import type { Answered, Asked } from "./thread-model.ts";

const port = parentPort;
assert(port !== null, "this is a thread of a process");

port.on("message", ({ id, question }: Asked) => {
  port.postMessage(answered(id, question));
});

function answered(id: number, question: Asked["question"]): Answered {
  try {
    return { id, answer: answerTo(question) };
  } catch (error) {
    return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
