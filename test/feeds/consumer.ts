/** A program of ./consumers: it is started again when it ends, as a supervisor would, and may be killed at any time. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Entry, entriesOf } from "./consumers/journal.ts";
import type { Reader } from "./reader.ts";

export type ConsumerKind = "pull" | "nats" | "kafka";

const restartMs = 500;

export class Consumer implements Reader, AsyncDisposable {
  readonly name: string;
  readonly kind: ConsumerKind;
  readonly entries: Entry[] = [];
  readonly positions = new Set<number>();
  readonly #file: string;
  readonly #parameters: readonly string[];
  #child: ChildProcess | null = null;
  #isWanted = false;
  #read = 0;

  /** The journal of the consumer is in the folder; the program gets its path before the parameters. */
  constructor(kind: ConsumerKind, name: string, folder: string, parameters: readonly string[]) {
    this.kind = kind;
    this.name = name;
    this.#file = join(folder, `${name}.journal`);
    this.#parameters = parameters;
  }

  async start(): Promise<void> {
    this.#isWanted = true;
    const main = join(import.meta.dirname, "consumers", `${this.kind}-main.ts`);
    const log = openSync(`${this.#file}.log`, "a");
    const stdio = ["ignore", log, log] as const;
    const child = spawn(process.execPath, [main, this.#file, ...this.#parameters], {
      stdio: [...stdio],
    });
    closeSync(log);
    this.#child = child;
    child.once("exit", () => {
      if (this.#child !== child) return;
      this.#child = null;
      setTimeout(() => {
        if (this.#isWanted && this.#child === null) void this.start();
      }, restartMs);
    });
  }

  /** Sends kill -9, and resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Reads what the journal has gained since the last look. A line that is not whole is read later. */
  look(): void {
    const size = existsSync(this.#file) ? statSync(this.#file).size : 0;
    if (size <= this.#read) return;
    const buffer = Buffer.alloc(size - this.#read);
    const fd = openSync(this.#file, "r");
    const bytes = readSync(fd, buffer, 0, buffer.length, this.#read);
    closeSync(fd);
    const whole = buffer.subarray(0, buffer.subarray(0, bytes).lastIndexOf("\n") + 1);
    this.#read += whole.length;
    for (const entry of entriesOf(whole.toString())) {
      this.entries.push(entry);
      this.positions.add(entry.sequence);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
