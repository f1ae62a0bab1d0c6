import type { DescMessage } from "@bufbuild/protobuf";
import { codecOf } from "@trainyard/contracts";
import { WorkerCall } from "@trainyard/runtime";
import { httpLimits } from "./limits.ts";
import { readMessageBytes, type ReadMessage, reasonOf } from "./message-bytes.ts";
import { Problem } from "./problem.ts";

export type EncodedMessage = { readonly typeName: string; readonly bytes: Uint8Array };

/** Reads requests over gRPC; large ones in a worker thread. */
export class MessageReader implements AsyncDisposable {
  readonly #thread = new WorkerCall<EncodedMessage, ReadMessage>(
    new URL("./message-worker.ts", import.meta.url),
    "decodes large requests",
  );

  /** Returns a message as it is read over REST. Throws a Problem of 400 if it cannot be decoded. */
  async read<Message>(desc: DescMessage, bytes: Uint8Array): Promise<Message> {
    const { typeName } = desc;
    const read =
      bytes.length <= httpLimits.largeMessageBytes
        ? readMessageBytes(desc, bytes)
        : await this.#thread.ask({ typeName, bytes });
    if (read.kind === "refused") throw new Problem(400, "invalid_request", read.detail);
    try {
      return { ...codecOf<object>(desc).fromJson(read.json), ...read.content } as Message;
    } catch (error) {
      throw new Problem(400, "invalid_request", reasonOf(error));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
