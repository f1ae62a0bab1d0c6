/**
 * The stream to a task's holder (docs/integrate/terminals.md), over the browser's WebSocket. It gives a page no way to
 * delay its messages. So a page that is behind drops what has arrived, and opens another stream, which begins with the
 * present screen. The server tells a page its refusal by the close of a WebSocket (docs/integrate/streams.md).
 */
import { Fault } from "@trainyard/kernel";
import { type ByteStream, readerBehind } from "@trainyard/terminal";

/** The bytes that have arrived and were not read: some tenths of a second of drawing. */
const behindBytesMax = 4 * 1024 * 1024;

type Closed = { readonly code: number; readonly reason: string };

function faultOf({ code, reason }: Closed): Fault {
  const status = code - 4_000;
  const [, name, detail] = /^([a-z_]+): (.+)$/s.exec(reason) ?? [];
  if (status < 400 || name === undefined || detail === undefined) {
    return new Fault("link_lost", "the server is away", { retry: "later" });
  }
  const retry = status >= 500 || status === 429 ? "later" : "never";
  return new Fault(name, detail, { retry, fields: { status } });
}

/** The part of a WebSocket that a stream uses. */
export type Socket = Pick<WebSocket, "send" | "close" | "readyState"> & {
  binaryType: BinaryType;
  onopen: (() => void) | null;
  onclose: ((event: Closed) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
};

const dial = (path: string): Socket =>
  new WebSocket(`${location.origin.replace(/^http/, "ws")}${path}`) as Socket;

/** Resolves with the open stream. Rejects with a Fault if it was not opened. */
export function dialHolder(
  task: string,
  signal: AbortSignal,
  open: (path: string) => Socket = dial,
): Promise<ByteStream> {
  const socket = open(`/api/v1/tasks/${encodeURIComponent(task)}/streams/terminal`);
  socket.binaryType = "arraybuffer";
  const { promise, resolve, reject } = Promise.withResolvers<ByteStream>();
  const stream = new SocketStream(socket);
  const aborted = (): void => socket.close();
  signal.addEventListener("abort", aborted);
  socket.onopen = () => resolve(stream);
  socket.onclose = (event) => {
    const fault = faultOf(event);
    reject(fault);
    stream.closed(fault);
  };
  if (signal.aborted) aborted();
  return promise.finally(() => signal.removeEventListener("abort", aborted));
}

class SocketStream implements ByteStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly #socket: Socket;
  #arrived: Uint8Array[] = [];
  #bytes = 0;
  #isBehind = false;
  #hasEnded = false;
  #closed: Fault | null = null;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    this.chunks = this.#read();
    socket.onmessage = ({ data }) => this.#take(data);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#socket.readyState === 1) this.#socket.send(new Uint8Array(bytes));
  }

  close(): void {
    this.#socket.close();
    this.closed(faultOf({ code: 1_000, reason: "" }));
  }

  /** Called when the WebSocket is closed, with the reason. */
  closed(fault: Fault): void {
    this.#closed ??= fault;
    this.#wake();
  }

  #take(data: unknown): void {
    if (!(data instanceof ArrayBuffer) || this.#isBehind) return;
    // An empty message ends the direction (libs/tunnel).
    if (data.byteLength === 0) this.#hasEnded = true;
    this.#arrived.push(new Uint8Array(data));
    this.#bytes += data.byteLength;
    if (this.#bytes > behindBytesMax) {
      this.#isBehind = true;
      this.#arrived = [];
    }
    this.#wake();
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#isBehind) throw readerBehind();
      const chunk = this.#arrived.shift();
      if (chunk !== undefined) {
        this.#bytes -= chunk.length;
        yield chunk;
      } else if (this.#hasEnded) return;
      else if (this.#closed !== null) throw this.#closed;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    }
  }
}
