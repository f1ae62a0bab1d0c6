/** Runs feeds over a real PostgreSQL, with sinks in memory; tests append the events of the other services. */
import type { EventOf } from "@trainyard/contracts";
import type { CommandRequestOf } from "@trainyard/contracts/command-services";
import type { Service } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { parseConfig } from "../config.ts";
import { createService, type FeedsOverrides } from "../service.ts";
import { MemorySink } from "./memory-sink.ts";

export class TestFeeds implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly sink = new MemorySink();
  #service: Service | null = null;

  private constructor(stage: DatabaseStage) {
    this.stage = stage;
  }

  static async open(): Promise<TestFeeds> {
    return new TestFeeds(await DatabaseStage.start("feeds"));
  }

  async start(overrides: FeedsOverrides = {}): Promise<void> {
    const { sink, stage } = this;
    const bus = stage.hub.connect("feeds");
    const rooms = { nats: sink.room };
    this.#service = await createService(parseConfig(stage.variables), { bus, rooms, ...overrides });
    await this.#service.start();
  }

  async stop(): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
    this.#service = null;
  }

  /** Creates a subscription; what is not given has the defaults of a person's request. */
  create(
    request: Partial<CommandRequestOf<"feeds", "CreateSubscription">> & { name: string },
    commitId?: string,
  ) {
    const message = {
      delivery: "nats",
      after: 0,
      reader: { owner: "admin", tokenId: "aa", ancestors: ["bb"], expiresAtMs: 0 },
      url: "",
      headers: {},
      secret: "",
      ...request,
    };
    return this.stage.ask("feeds", "CreateSubscription", message, commitId);
  }

  async facts(name: string) {
    const request = { name, pageSize: 0, pageToken: "", delivery: "", tokenId: "", owner: "" };
    const answer = await this.stage.ask("feeds", "ListSubscriptions", request);
    if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
    return answer.reply.items[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.stage[Symbol.asyncDispose]();
  }
}

export const experimentCreated = (
  data: Partial<EventOf<"ExperimentCreated">["data"]>,
): EventOf<"ExperimentCreated"> => ({
  type: "ExperimentCreated",
  data: {
    config: {},
    configSourceDigest: "",
    contextDigest: "",
    contextBytes: 0,
    seed: 1,
    name: "e",
    description: "",
    labels: [],
    owner: "admin",
    workspace: "1",
    project: "1",
    submissionDigest: "",
    tokenId: "",
    ...data,
  },
});
