/** A gRPC client of plain HTTP/2, which can also send what a library would not. */
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from "node:http2";

export type GrpcAnswer = {
  /** The status; null while a stream is open. */
  readonly code: number | null;
  readonly message: string;
  readonly messages: readonly Buffer[];
  /** The metadata of the head and of the end. */
  readonly metadata: IncomingHttpHeaders;
};

type Sent = {
  /** The messages; each gets the head of its length. */
  readonly messages?: readonly Uint8Array[];
  /** Bytes that are sent instead of messages, without an end. */
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns whether the client has enough; it then cancels the call. */
  readonly enough?: (messages: readonly Buffer[]) => boolean;
  /** The time after which an open call is cancelled. */
  readonly untilMs?: number;
};

export class GrpcConnection implements Disposable {
  readonly #session: ClientHttp2Session;

  constructor(url: string) {
    this.#session = connect(url);
    this.#session.on("error", () => {});
  }

  call(
    path: string,
    { messages = [], bytes, headers, enough, untilMs }: Sent,
  ): Promise<GrpcAnswer> {
    const call = this.#session.request({
      ...{ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
      ...headers,
    });
    const answer = { metadata: {} as IncomingHttpHeaders, messages: [] as Buffer[] };
    let unread = Buffer.alloc(0);
    const cancel = (): void => call.close(constants.NGHTTP2_CANCEL);
    const timer = untilMs === undefined ? undefined : setTimeout(cancel, untilMs);
    const add = (metadata: IncomingHttpHeaders): void =>
      void Object.assign(answer.metadata, metadata);
    call
      .on("error", () => {})
      .on("response", add)
      .on("trailers", add);
    call.on("end", () => call.close());
    call.on("data", (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (let end = endOf(unread); end <= unread.length; end = endOf(unread)) {
        answer.messages.push(unread.subarray(5, end));
        unread = unread.subarray(end);
      }
      if (enough?.(answer.messages) === true) cancel();
    });
    if (bytes === undefined) call.end(Buffer.concat(messages.map(framed)));
    else call.write(bytes);
    return new Promise((resolve) => {
      call.on("close", () => {
        clearTimeout(timer);
        const { "grpc-status": code, "grpc-message": message } = answer.metadata;
        resolve({
          ...answer,
          code: code === undefined ? null : Number(code),
          message: decodeURI(String(message ?? "")),
        });
      });
    });
  }

  [Symbol.dispose](): void {
    this.#session.destroy();
  }
}

/** Returns the end of the first message; more than all bytes if its head is incomplete. */
const endOf = (bytes: Buffer): number =>
  bytes.length < 5 ? Number.POSITIVE_INFINITY : 5 + bytes.readUInt32BE(1);

function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
