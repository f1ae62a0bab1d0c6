/** The thread that reads large bodies, so that everything else is answered meanwhile. */
import { parentPort } from "node:worker_threads";
import { assert } from "@trainyard/kernel";
import { type BodyText, type ReadBody, readBodyText } from "./body-text.ts";

export type BodyRequest = { readonly id: number; readonly text: BodyText };
export type BodyAnswer = { readonly id: number; readonly read: ReadBody };

const port = parentPort;
assert(port !== null, "this module runs as a worker");
port.on("message", ({ id, text }: BodyRequest) => {
  const read = readBodyText(text);
  const moved = read.kind === "read" ? Object.values(read.bytes).map(({ buffer }) => buffer) : [];
  port.postMessage({ id, read } satisfies BodyAnswer, moved);
});
