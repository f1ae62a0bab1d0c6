import { WorkerCall } from "@trainyard/runtime";
import type { BodyText, ReadBody } from "./body-text.ts";

/** Parses large bodies in a worker thread. */
export class BodyThread implements AsyncDisposable {
  readonly #thread = new WorkerCall<BodyText, ReadBody>(
    new URL("./body-worker.ts", import.meta.url),
    "reads large requests",
  );

  /** Parses a body. The memory of the body is moved to the thread and cannot be used afterwards. */
  read(text: BodyText): Promise<ReadBody> {
    const { buffer, byteLength } = text.body;
    // The body is copied if other values share its memory, because moved memory cannot be used in this thread.
    const own = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
    const body = new Uint8Array(own ? buffer : text.body);
    return this.#thread.ask({ ...text, body }, [body.buffer]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
