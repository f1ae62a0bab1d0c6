/** Streams of bytes to what a task or a trial serves, over a WebSocket of the gateway. */
import type { Duplex } from "node:stream";
import { type Clock, isFault } from "@trainyard/kernel";
import { dialWebSocket } from "@trainyard/tunnel";
import { requireAccess } from "./connection.ts";
import { cliLimits } from "./limits.ts";
import { Failure } from "./usage-error.ts";

/** The reason why a stream was not opened, as a sentence. */
export class StreamRefused extends Failure {
  /** Whether the same attempt may succeed later. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing: boolean) {
    super(message);
    this.isPassing = isPassing;
  }
}

type StreamOptions = {
  readonly signal?: AbortSignal;
  /** The looks of 5 s without an answer after which the stream is dead; few only if the other side always reads. */
  readonly deadLooks?: number;
};

/** Opens a stream at a path such as /api/v1/tasks/t12/streams/8080. Throws StreamRefused. */
export async function openStream(
  path: string,
  clock: Clock,
  options: StreamOptions = {},
): Promise<Duplex> {
  const { url, token } = requireAccess();
  try {
    return await dialWebSocket(`${url.replace(/\/+$/, "")}${path}`, {
      clock,
      headers: { authorization: `Bearer ${token}` },
      deadLooks: cliLimits.streamDeadLooks,
      ...options,
    });
  } catch (error) {
    if (!isFault(error)) throw error;
    const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
    throw new StreamRefused(`${text}.`, error.retry !== "never");
  }
}
