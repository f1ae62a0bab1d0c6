import type { DescMessage } from "@bufbuild/protobuf";
import { codecOf } from "@trainyard/contracts";
import { WorkerCall } from "@trainyard/runtime";
import { httpLimits } from "./limits.ts";
import {
  type EncodedMessage,
  readMessageBytes,
  type ReadMessage,
  reasonOf,
} from "./message-bytes.ts";
import { Problem } from "./problem.ts";

export type NamedMessage = EncodedMessage & { readonly typeName: string };

/** Reads requests over gRPC; large ones in a worker thread. */
export class MessageReader implements AsyncDisposable {
  readonly #thread = new WorkerCall<NamedMessage, ReadMessage>(
    new URL("./message-worker.ts", import.meta.url),
    "decodes large requests",
  );

  /** Returns a message as it is read over REST, and its digest. Throws a Problem of 400 if it cannot be decoded. */
  async read<Message>(
    desc: DescMessage,
    encoded: EncodedMessage,
  ): Promise<{ readonly message: Message; readonly digest: string }> {
    const { typeName } = desc;
    const read =
      encoded.bytes.length <= httpLimits.largeMessageBytes
        ? readMessageBytes(desc, encoded)
        : await this.#thread.ask({ typeName, ...encoded });
    if (read.kind === "refused") throw new Problem(400, "invalid_request", read.detail);
    try {
      const message = { ...codecOf<object>(desc).fromJson(read.json), ...read.content } as Message;
      return { message, digest: read.digest };
    } catch (error) {
      throw new Problem(400, "invalid_request", reasonOf(error));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
