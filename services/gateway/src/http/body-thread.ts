import { WorkerCall } from "@trainyard/runtime";
import type { BodyText, ReadBody } from "./body-text.ts";

/** Reads large bodies in a thread. */
export class BodyThread implements AsyncDisposable {
  readonly #thread = new WorkerCall<BodyText, ReadBody>(
    new URL("./body-worker.ts", import.meta.url),
    "reads large requests",
  );

  /** Takes the body's memory. */
  read(text: BodyText): Promise<ReadBody> {
    const { buffer, byteLength } = text.body;
    // A copy where the memory is shared with others: what is moved to the thread is gone here.
    const own = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
    const body = new Uint8Array(own ? buffer : text.body);
    return this.#thread.ask({ ...text, body }, [body.buffer]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
