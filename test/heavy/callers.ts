/** The callers as child processes. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { BesideOrder, BesideSample } from "./beside-main.ts";
import type { FloodOrder, FloodReport } from "./flood-main.ts";
import type { HeavyOrder, HeavyReport } from "./heavy-main.ts";
import type { ManyRunsOrder, ManyRunsReport } from "./many-runs-main.ts";

class Child implements AsyncDisposable {
  readonly process: ChildProcess;

  constructor(program: string) {
    this.process = fork(join(import.meta.dirname, program));
  }

  /** Sends a message, and resolves with the next one that comes back. */
  protected async ask<Report>(message: object | string): Promise<Report> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>();
    const ended = (): void => reject(new Error("the caller has ended"));
    this.process.once("message", resolve).once("exit", ended);
    this.process.send(message);
    return await promise.finally(() => this.process.off("message", resolve).off("exit", ended));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await ended;
  }
}

export class HeavyCaller extends Child {
  constructor() {
    super("heavy-main.ts");
  }

  /** Sends the requests of a route, and resolves when all have been answered. */
  send(order: HeavyOrder): Promise<HeavyReport> {
    return this.ask(order);
  }
}

/** Sends from its start until it is stopped. */
class Endless<Order extends object, Report> extends Child {
  constructor(program: string, order: Order) {
    super(program);
    this.process.send(order);
  }

  stop(): Promise<Report> {
    return this.ask("stop");
  }
}

export class Flood extends Endless<FloodOrder, FloodReport> {
  constructor(order: FloodOrder) {
    super("flood-main.ts", order);
  }
}

export class ManyRuns extends Endless<ManyRunsOrder, ManyRunsReport> {
  constructor(order: ManyRunsOrder) {
    super("many-runs-main.ts", order);
  }
}

export class OtherCaller extends Child {
  readonly samples: BesideSample[] = [];

  constructor(order: BesideOrder) {
    super("beside-main.ts");
    this.process.on("message", (sample: BesideSample) => this.samples.push(sample));
    this.process.send(order);
  }
}
