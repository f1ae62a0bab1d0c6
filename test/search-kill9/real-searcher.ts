/** The searcher in a process of its own, with a real PostgreSQL and a real NATS; it can be killed at any moment. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Bus, createNatsBus } from "@trainyard/bus";
import { startNats } from "@trainyard/bus/testing";
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { createPostgresLog, deriveCommitId, type EventLog } from "@trainyard/event-log";
import { programFile } from "@trainyard/kernel/program-file";
import { encodeRequest } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import type { TestPostgres, TestPostgresOptions } from "@trainyard/testing";
import { eventually } from "../world/eventually.ts";
import { decidedOn, type Input, tell } from "./sequence.ts";

const searcherMain = programFile(join(import.meta.dirname, "../../services/searcher/src/main.ts"));
const relayPageEvents = 500;
const answerMs = 2_000;
const patienceMs = 120_000;

export class RealSearcher implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly #environment: Readonly<Record<string, string>>;
  readonly postgres: TestPostgres;
  /** The log as all other services use it. */
  readonly log: EventLog;
  readonly bus: Bus;
  #process: ChildProcess | null = null;
  #carried = 0;
  #carrying: Promise<void> | null = null;

  private constructor(
    stack: AsyncDisposableStack,
    environment: Readonly<Record<string, string>>,
    postgres: TestPostgres,
    log: EventLog,
    bus: Bus,
  ) {
    this.postgres = postgres;
    this.#stack = stack;
    this.#environment = environment;
    this.log = log;
    this.bus = bus;
  }

  static async start(options: TestPostgresOptions = {}): Promise<RealSearcher> {
    const stack = new AsyncDisposableStack();
    try {
      const stage = stack.use(await DatabaseStage.start("searcher", options));
      const nats = stack.use(await startNats());
      const bus = stack.use(await createNatsBus({ servers: [nats.url], name: "gateway" }));
      const others = stage.url("ty_others");
      const log = stack.use(createPostgresLog({ connectionString: others }));
      const environment = { ...stage.variables, TRAINYARD_NATS_URL: nats.url };
      const searcher = new RealSearcher(stack, environment, stage.postgres, log, bus);
      // The log stays open until the last events are carried.
      stack.defer(() => searcher.#carrying ?? undefined);
      stack.use(await log.onAppended(() => void searcher.#carry()));
      stack.defer(() => searcher.kill());
      searcher.begin();
      return searcher;
    } catch (error) {
      await stack.disposeAsync();
      throw error;
    }
  }

  begin(): void {
    this.#process = spawn(process.execPath, [searcherMain], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, ...this.#environment },
    });
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Sends SIGKILL; resolves when the process has ended. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** Does the relay's work: publishes the log on the bus, in order. */
  #carry(): Promise<void> {
    this.#carrying ??= this.#carryAll().finally(() => {
      this.#carrying = null;
    });
    return this.#carrying;
  }

  async #carryAll(): Promise<void> {
    for (;;) {
      const page = await this.log.readAll(this.#carried, relayPageEvents);
      const last = page.at(-1);
      if (last === undefined) return;
      await this.bus.publishEvents(page);
      this.#carried = last.position;
    }
  }

  /** Sends the input, without waiting for its effects. A posted operation is answered before this resolves. */
  async take(input: Input, experiment: string, step: number): Promise<void> {
    if (input.kind === "told") {
      await tell(this.log, input.told);
      return;
    }
    const commitId = deriveCommitId("kill9", "post", experiment, String(step));
    const headers = { commitId, authid: "", traceparent: "", correlationid: "" };
    const operations = [...input.operations];
    const body = encodeRequest("searcher", "PostSearchOperations", { experiment, operations });
    await eventually(
      "the client of the custom search is answered",
      async () => {
        const reply = await this.bus
          .request("searcher", "PostSearchOperations", { headers, body }, answerMs)
          .catch(() => null);
        return reply?.kind === "ok";
      },
      patienceMs,
    );
  }

  async version(experiment: string): Promise<number> {
    return (await this.log.read(`search-${experiment}`, 0, 100_000)).length;
  }

  async events(experiment: string): Promise<readonly AnyEvent[]> {
    return (await this.log.read(`search-${experiment}`, 0, 100_000)).map(decodeEvent);
  }

  decided(experiment: string): Promise<readonly string[]> {
    return decidedOn(this.log, experiment);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
