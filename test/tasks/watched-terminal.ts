/**
 * The terminal of a shell that runs `tick.py`, with one viewer during all troubles. Each screen that the viewer gets
 * and the output after it must show the numbers in their order, with those that were written while nobody watched.
 */
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { type Ended, type FromHolder, TerminalLink, toHolder } from "@trainyard/terminal";
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";
import { dialTask } from "./task-stream.ts";

const program = join(import.meta.dirname, "programs", "tick.py");
/** The program ends by a typed word, and the shell then by this code. */
export const shellCode = 5;
/** The time in which a typed line is answered, with a connection that is made again. */
const answerMs = 60_000;
/** A control sequence may move the cursor to another row, so it ends a text like a newline. */
const rowEnds = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[^[]|[\r\n]+/;

export class WatchedTerminal {
  readonly task: string;
  readonly ended: Promise<Ended | null>;
  readonly violations: string[] = [];
  readonly #world: World;
  readonly #link: TerminalLink;
  readonly #over = new AbortController();
  /** The number of connections that have broken, and why the last one did. */
  lost = 0;
  lastReason = "";
  #isConnected = false;
  #hasEnded = false;
  /** The last screen and the output since. */
  #shown = "";
  #lastTick = 0;
  #pings = 0;

  constructor(world: World, task: string) {
    this.#world = world;
    this.task = task;
    this.#link = new TerminalLink(
      {
        dial: (signal) => dialTask(this.#world, this.task, signal),
        hello: () => ({ open: "terminal", name: "main", columns: 80, rows: 24 }),
        message: (message) => this.#show(message),
        connected: () => {
          this.#isConnected = true;
        },
        lost: (reason) => {
          if (this.#isConnected) this.lost += 1;
          this.#isConnected = false;
          this.lastReason = reason;
        },
      },
      systemClock,
    );
    this.ended = this.#link.run(this.#over.signal).catch((error: unknown) => {
      this.violations.push(`the viewer of ${task} gave up: ${String(error)}`);
      return null;
    });
  }

  /** Starts the program in the shell. */
  async start(): Promise<void> {
    await eventually("the shell has a prompt", async () => this.#shown !== "", answerMs).catch(
      (cause: unknown) => {
        throw new Error([...this.violations, this.lastReason, String(cause)].join("; "), { cause });
      },
    );
    this.#type(`stty -echo; python3 ${program}; exit ${shellCode}\r`);
    await this.answers();
  }

  /** Types a line until it is answered: what is typed without a connection is dropped. */
  async answers(): Promise<void> {
    this.#pings += 1;
    const answer = `pong ${this.#pings}`;
    let atMs = 0;
    const isAnswered = async (): Promise<boolean> => {
      if (this.#rows().includes(answer)) return true;
      if (performance.now() - atMs > 2_000) {
        this.#type(`ping ${this.#pings}\r`);
        atMs = performance.now();
      }
      return false;
    };
    await eventually(`the shell ${this.task} answers`, isAnswered, answerMs).catch(() => {
      const state = this.#isConnected ? "is connected" : `is not connected: ${this.lastReason}`;
      this.violations.push(`the terminal of ${this.task} did not answer; its viewer ${state}`);
    });
    this.#checkTicks();
  }

  async quit(): Promise<Ended | null> {
    this.#type("quit\r");
    await eventually("the terminal has ended", async () => this.#hasEnded, answerMs).catch(() => {
      this.violations.push(`the terminal of ${this.task} did not end`);
    });
    this.#over.abort();
    return await this.ended;
  }

  #type(text: string): void {
    for (const frame of toHolder.input(Buffer.from(text))) this.#link.write(frame);
  }

  #show(message: FromHolder): void {
    if (message.type === "screen") {
      this.#checkTicks();
      this.#shown = Buffer.from(message.bytes).toString("latin1");
      this.#checkTicks();
    } else if (message.type === "output") {
      this.#shown += Buffer.from(message.bytes).toString("latin1");
    } else if (message.type === "ended") {
      this.#hasEnded = true;
    }
  }

  /** The complete rows of what is shown. */
  #rows(): readonly string[] {
    return this.#shown.split(rowEnds).slice(0, -1);
  }

  #checkTicks(): void {
    const ticks = this.#rows().flatMap((row) => {
      const number = /^tick (\d+)$/.exec(row)?.[1];
      return number === undefined ? [] : [Number(number)];
    });
    const [first] = ticks;
    if (first === undefined) return;
    const gap = ticks.findIndex((tick, index) => tick !== first + index);
    if (gap !== -1) {
      this.violations.push(`${this.task} shows ${ticks[gap]} after ${ticks[gap - 1]}`);
    }
    if (this.#lastTick !== 0 && first > this.#lastTick + 1) {
      this.violations.push(`${this.task} showed ${this.#lastTick}, and begins with ${first} now`);
    }
    const last = ticks.at(-1) ?? 0;
    if (last < this.#lastTick) {
      this.violations.push(`${this.task} showed ${this.#lastTick}, and ends with ${last} now`);
    }
    this.#lastTick = last;
  }
}
