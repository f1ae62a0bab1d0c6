/**
 * The terminal in which the command line runs, while it shows one of the cluster: keys are passed on as they are,
 * Ctrl-C too. It is given back as it was at the end, after an error, and when a signal ends the command line.
 */
import { writeSync } from "node:fs";
import type { ReadStream, WriteStream } from "node:tty";
import type { Size } from "@trainyard/terminal";
import { UsageError } from "../usage-error.ts";
import { LeaveKeys } from "./leave-keys.ts";
import { ScreenState } from "./screen-state.ts";

export type Console = {
  readonly input: Pick<ReadStream, "isTTY" | "setRawMode" | "on" | "off" | "pause" | "resume">;
  readonly output: Pick<WriteStream, "isTTY" | "columns" | "rows" | "on" | "off" | "write"> & {
    readonly fd: number;
  };
};

export type ConsoleEvents = {
  readonly typed: (bytes: Uint8Array) => void;
  readonly resized: () => void;
  /** The person has typed the keys that leave. */
  readonly left: () => void;
};

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const processConsole: Console = { input: process.stdin, output: process.stdout };

/** Throws a UsageError, with a sentence about what to do instead, unless the input and output are a terminal. */
export function requireConsole(instead: string): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new UsageError(`The standard input and output are no terminal.${instead}`);
}

export class LocalTerminal implements Disposable {
  readonly #console: Console;
  readonly #state = new ScreenState();
  readonly #undo = new DisposableStack();

  constructor(events: ConsoleEvents, console: Console = processConsole) {
    this.#console = console;
    const { input, output } = console;
    const keys = new LeaveKeys();
    const typed = (chunk: Buffer): void => {
      const { bytes, leaves } = keys.read(chunk);
      if (bytes.length > 0) events.typed(bytes);
      if (leaves) events.left();
    };
    input.setRawMode(true);
    this.#undo.defer(() => this.#restore());
    this.#listen(input, "data", typed);
    // A console that is closed ends the command line as its hangup does.
    this.#listen(input, "end", events.left);
    this.#listen(output, "resize", events.resized);
    this.#listen(process, "exit", () => this.#restore());
    // A shell that stopped this process and continues it has set its own modes.
    this.#listen(process, "SIGCONT", () => {
      input.setRawMode(false);
      input.setRawMode(true);
      events.resized();
    });
    for (const signal of endingSignals) {
      this.#listen(process, signal, () => {
        this[Symbol.dispose]();
        process.kill(process.pid, signal);
      });
    }
    input.resume();
  }

  get size(): Size {
    return { columns: this.#console.output.columns, rows: this.#console.output.rows };
  }

  /** Writes output; resolves when the terminal takes more. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#state.read(bytes);
    const { output } = this.#console;
    if (output.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const drained = (): void => {
        output.off("drain", drained);
        resolve();
      };
      output.on("drain", drained);
    });
  }

  /** Empties the terminal, and writes the bytes that make a screen. */
  async show(screen: Uint8Array): Promise<void> {
    this.#console.output.write(this.#state.emptying(this.size.rows));
    await this.write(screen);
  }

  [Symbol.dispose](): void {
    this.#undo.dispose();
  }

  #restore(): void {
    const { input, output } = this.#console;
    input.setRawMode(false);
    input.pause();
    try {
      // At the exit of the process, only what is written at once is written.
      writeSync(output.fd, this.#state.restoring());
    } catch {
      // The console is gone, and nothing is left to restore.
    }
  }

  #listen(
    source: {
      on(event: string, listener: never): unknown;
      off(event: string, listener: never): unknown;
    },
    event: string,
    listener: (...given: never[]) => void,
  ): void {
    source.on(event, listener as never);
    this.#undo.defer(() => void source.off(event, listener as never));
  }
}
