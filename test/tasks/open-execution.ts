/** A program that is executed in a task and waits for the end of its input. */
import { Fault, isFault } from "@trainyard/kernel";
import { type ByteStream, type Ended, messagesOf, toHolder } from "@trainyard/terminal";
import type { World } from "../world/world.ts";
import { dialTask } from "./task-stream.ts";

export const executedCode = 9;
const command = ["sh", "-c", `cat; echo err >&2; exit ${executedCode}`];
/** A silent connection is dead after 20 s. */
const brokenMs = 30_000;

export class OpenExecution {
  readonly #stream: ByteStream;
  readonly #task: string;
  readonly #end: Promise<Ended | Fault>;
  #out = "";
  #err = "";

  private constructor(stream: ByteStream, task: string) {
    this.#stream = stream;
    this.#task = task;
    this.#end = this.#follow();
  }

  static async start(world: World, task: string): Promise<OpenExecution> {
    const stream = await dialTask(world, task, AbortSignal.timeout(brokenMs));
    await stream.write(toHolder.hello({ open: "exec", command }));
    return new OpenExecution(stream, task);
  }

  /** Ends the input; the program must have continued. */
  async end(): Promise<readonly string[]> {
    const input = "all of the input\n";
    for (const frame of toHolder.input(Buffer.from(input))) await this.#stream.write(frame);
    await this.#stream.write(toHolder.endOfInput());
    const ended = await this.#endSoon();
    const said = JSON.stringify([ended, this.#out, this.#err]);
    const wanted = JSON.stringify([{ type: "ended", code: executedCode }, input, "err\n"]);
    return said === wanted ? [] : [`a program in ${this.#task} ended with ${said}`];
  }

  /** The connection must have broken, since a process that carried it was killed. */
  async broke(): Promise<readonly string[]> {
    const ended = await this.#endSoon();
    if (isFault(ended) && ended.code !== "still_open") return [];
    return [`a program in ${this.#task} outlived its connection: ${JSON.stringify(ended)}`];
  }

  async #endSoon(): Promise<Ended | Fault> {
    const timeout = Promise.withResolvers<Fault>();
    const timer = setTimeout(
      () => timeout.resolve(new Fault("still_open", "it is still open", { retry: "never" })),
      brokenMs,
    );
    try {
      return await Promise.race([this.#end, timeout.promise]);
    } finally {
      clearTimeout(timer);
      this.#stream.close();
    }
  }

  async #follow(): Promise<Ended | Fault> {
    try {
      for await (const message of messagesOf(this.#stream)) {
        if (message.type === "output") this.#out += Buffer.from(message.bytes).toString();
        else if (message.type === "error_output")
          this.#err += Buffer.from(message.bytes).toString();
        else if (message.type === "ended") return message;
      }
    } catch (error) {
      if (isFault(error)) return error;
      throw error;
    }
    return {};
  }
}
