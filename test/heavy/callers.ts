/** The callers as child processes. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { BesideOrder, BesideSample } from "./beside-main.ts";
import type { HeavyOrder, HeavyReport } from "./heavy-main.ts";

class Child implements AsyncDisposable {
  readonly process: ChildProcess;

  constructor(program: string) {
    this.process = fork(join(import.meta.dirname, program));
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
  async send(order: HeavyOrder): Promise<HeavyReport> {
    const { promise, resolve, reject } = Promise.withResolvers<HeavyReport>();
    const ended = (): void => reject(new Error("the heavy caller has ended"));
    this.process.once("message", resolve).once("exit", ended);
    this.process.send(order);
    return await promise.finally(() => this.process.off("message", resolve).off("exit", ended));
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
