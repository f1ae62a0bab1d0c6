/** The service over a real PostgreSQL, called through the bus like agents and the gateway do. */
import { inspect } from "node:util";
import type { Plain } from "@trainyard/contracts";
import type { LogLine, QueryLines } from "@trainyard/contracts/commands";
import { newEventId } from "@trainyard/event-log";
import { assert, type Rejection } from "@trainyard/kernel";
import { createLogger, runToken, type Service, type TableOverrides } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { parseConfig } from "../config.ts";
import { createService } from "../service.ts";

const tokenKey = { id: "1", secret: Buffer.alloc(32, 5) };

export type Grant = { readonly grantPosition: number; readonly grantId: string };

export class TestLogs implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly #replicas = new AsyncDisposableStack();
  /** Errors that the replicas have logged, shown when a test fails. */
  readonly #errors: unknown[] = [];

  /** Warnings that the replicas have logged. */
  readonly warnings: (readonly unknown[])[] = [];

  /** The log's first event, which grants all runs of these tests. */
  readonly #grant: Grant;

  private constructor(stage: DatabaseStage, grant: Grant) {
    this.stage = stage;
    this.#grant = grant;
  }

  static async start(): Promise<TestLogs> {
    const stage = await DatabaseStage.start("logs");
    const id = newEventId();
    const grantPosition = await stage.tell("pool-test", { id, type: "PoolRemoved", data: {} });
    return new TestLogs(stage, { grantPosition, grantId: id });
  }

  token(allocation: string, grant = this.#grant): string {
    return runToken(tokenKey, { allocation, ...grant });
  }

  #tokensOf(lines: readonly Plain<LogLine>[]): readonly string[] {
    const runs = new Set(lines.map(({ allocation }) => allocation));
    return [...runs].map((run) => this.token(run));
  }

  /** Starts a replica, which stops when it is disposed of or with the whole stage. */
  async replica(overrides: TableOverrides = {}): Promise<Service> {
    const bus = this.stage.hub.connect("logs");
    const config = parseConfig({
      ...this.stage.variables,
      TRAINYARD_RUN_TOKEN_KEY: tokenKey.secret.toString("hex"),
      TRAINYARD_RUN_TOKEN_KEY_ID: tokenKey.id,
    });
    const logger = createLogger("logs", "silent");
    logger.warn = (...told: readonly unknown[]) => void this.warnings.push(told);
    logger.error = (fields: unknown) => void this.#errors.push(fields);
    const service = this.#replicas.use(await createService(config, { bus, logger, ...overrides }));
    await service.start();
    return service;
  }

  /** Sends a batch, by default with the tokens of all its runs. */
  write(lines: readonly Plain<LogLine>[], tokens = this.#tokensOf(lines)) {
    return this.stage.ask("logs", "WriteLines", { agent: "agent-1", lines, tokens });
  }

  async written(lines: readonly Plain<LogLine>[]): Promise<void> {
    const answer = await this.write(lines);
    const told = answer.kind === "ok" ? "" : `: ${inspect([answer, ...this.#errors])}`;
    assert(answer.kind === "ok", `lines are taken${told}`);
  }

  async ask(query: Partial<Plain<QueryLines>>) {
    const whole = { task: "", after: "", before: "", limit: 0, tail: 0, ...query };
    return this.stage.ask("logs", "QueryLines", whole);
  }

  async page(query: Partial<Plain<QueryLines>>) {
    const answer = await this.ask(query);
    assert(answer.kind === "ok", `lines are answered: ${JSON.stringify(answer)}`);
    return answer.reply;
  }

  async refusal(query: Partial<Plain<QueryLines>>): Promise<Rejection> {
    const answer = await this.ask(query);
    assert(answer.kind === "rejected", `the query is refused: ${JSON.stringify(answer)}`);
    return answer.rejection;
  }

  async texts(query: Partial<Plain<QueryLines>>): Promise<readonly string[]> {
    return (await this.page(query)).lines.map(({ line }) => line?.text ?? "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replicas.disposeAsync();
    await this.stage[Symbol.asyncDispose]();
  }
}
