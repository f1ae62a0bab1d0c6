/** The stream to a task's holder, over a WebSocket of the gateway. */
import { type Clock, Fault } from "@trainyard/kernel";
import type { ByteStream } from "@trainyard/terminal";
import { byteStreamOf } from "@trainyard/tunnel";
import { openStream, StreamRefused } from "../streams.ts";
import { Failure } from "../usage-error.ts";

export type Dial = {
  readonly task: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly deadLooks?: number;
};

/** Throws a Fault with the gateway's refusal as a sentence. */
export async function dialHolder({ task, clock, ...options }: Dial): Promise<ByteStream> {
  const path = `/api/v1/tasks/${encodeURIComponent(task)}/streams/terminal`;
  try {
    return byteStreamOf(await openStream(path, clock, options));
  } catch (error) {
    if (!(error instanceof StreamRefused)) throw error;
    const retry = error.isPassing ? "later" : "never";
    throw new Fault("stream_refused", error.message, { retry, cause: error });
  }
}

/** Returns the failure of the command line that a Fault of the stream is, as a sentence. */
export function failureOf({ code, message }: Fault): Failure {
  // The sentence begins with the name of the program.
  const keeps = code === "cannot_start";
  const text = keeps ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return new Failure(text.endsWith(".") ? text : `${text}.`);
}
