/** A client of a task's holder, with what it has received so far. */
import type { Socket } from "node:net";
import {
  FrameDecoder,
  type FromHolder,
  fromHolder,
  type Hello,
  toHolder,
} from "@trainyard/terminal";
import { vi } from "vitest";
import { connectHolder } from "../state/run-socket.ts";

const patient = { timeout: 60_000, interval: 20 };
const tailChars = 64 * 1024;

export class HolderClient implements Disposable {
  readonly messages: FromHolder[] = [];
  readonly #socket: Socket;
  /** The end of the output, with the screens before it. */
  #tail = "";
  isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const decoder = new FrameDecoder();
    socket.on("data", (chunk: Buffer) => {
      for (const frame of decoder.push(chunk)) {
        const message = fromHolder(frame);
        if (message === null) continue;
        this.messages.push(message);
        if (message.type === "output" || message.type === "screen") {
          const text = this.#tail + Buffer.from(message.bytes).toString("utf8");
          this.#tail = text.slice(-tailChars);
        }
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => (this.isClosed = true));
  }

  /** Waits for the holder of the run, which may be starting. */
  static async open(runDir: string, hello: Hello): Promise<HolderClient> {
    const client = new HolderClient(await vi.waitFor(() => connectHolder(runDir), patient));
    client.#socket.write(toHolder.hello(hello));
    return client;
  }

  write(frame: Uint8Array): void {
    this.#socket.write(frame);
  }

  type(text: string): void {
    for (const frame of toHolder.input(Buffer.from(text))) this.#socket.write(frame);
  }

  stopReading(): void {
    this.#socket.pause();
  }

  readAgain(): void {
    this.#socket.resume();
  }

  /** The bytes of the messages of this type. */
  text(type: "output" | "error_output" = "output"): string {
    const parts = this.messages.flatMap((message) =>
      message.type === type ? [message.bytes] : [],
    );
    return Buffer.concat(parts).toString("utf8");
  }

  of<T extends FromHolder["type"]>(type: T): readonly Extract<FromHolder, { type: T }>[] {
    return this.messages.filter(
      (message): message is Extract<FromHolder, { type: T }> => message.type === type,
    );
  }

  /** Waits until the end of the output has the text. */
  async until(text: string | RegExp): Promise<void> {
    await vi.waitFor(() => {
      const output = this.#tail;
      const has = typeof text === "string" ? output.includes(text) : text.test(output);
      if (!has) throw new Error(`the output has no ${text}: ${JSON.stringify(output.slice(-500))}`);
    }, patient);
  }

  /** The number of bytes of output so far. */
  get outputBytes(): number {
    return this.of("output").reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Waits for the last message. */
  async ended(): Promise<FromHolder | undefined> {
    await vi.waitFor(() => {
      if (!this.isClosed) throw new Error("the connection is open");
    }, patient);
    return this.messages.at(-1);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
