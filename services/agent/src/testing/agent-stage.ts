/**
 * An agent of a scripted platform, with a folder for checkpoints. Each test has its own stage, so that tests of a file
 * run concurrently: most of their time they wait for a limit of the agent.
 */
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { createLogger } from "@trainyard/runtime";
import type { AgentConfig } from "../config.ts";
import { type AgentService, createService } from "../service.ts";
import { folderNameOf } from "../state/layout.ts";
import { agentConfig } from "./agent-config.ts";
import { newFolder } from "./examples.ts";
import { ScriptedPlatform } from "./scripted-platform.ts";

type StageSettings = {
  /** The interval of saves of a running task's folder. */
  readonly workEveryMs?: number;
  /** Variables of the agent besides those of the stage. */
  readonly variables?: Readonly<Record<string, string>>;
};

export class AgentStage implements AsyncDisposable {
  readonly #hub: MemoryHub;
  readonly platform: ScriptedPlatform;
  readonly config: AgentConfig;
  readonly checkpoints: string;
  #agent: AgentService | null = null;

  private constructor(
    hub: MemoryHub,
    platform: ScriptedPlatform,
    checkpoints: string,
    { workEveryMs, variables }: StageSettings,
  ) {
    this.#hub = hub;
    this.platform = platform;
    this.checkpoints = checkpoints;
    this.config = agentConfig(platform.url, {
      TRAINYARD_CHECKPOINT_DIR: checkpoints,
      TRAINYARD_SDK_PATH: join(import.meta.dirname, "../../../../libs/sdk-python/src"),
      ...(workEveryMs === undefined
        ? {}
        : { TRAINYARD_AGENT_WORK_SECONDS: String(workEveryMs / 1_000) }),
      ...variables,
    });
  }

  static async start(settings: StageSettings = {}): Promise<AgentStage> {
    const hub = createMemoryBus();
    const platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
    platform.checkpointRoot = newFolder();
    const stage = new AgentStage(hub, platform, platform.checkpointRoot, settings);
    await stage.startAgent();
    return stage;
  }

  async startAgent(): Promise<void> {
    const bus = this.#hub.connect("agent-rack");
    const logger = createLogger("agent", "silent");
    this.#agent = await createService(this.config, { bus, logger });
    await this.#agent.start();
  }

  /** Ends the agent's process, and no run. */
  async stopAgent(): Promise<void> {
    await this.#agent?.[Symbol.asyncDispose]();
    this.#agent = null;
  }

  async shutDownRuns(): Promise<void> {
    await this.#agent?.shutDownRuns();
  }

  folderOf(launch: RequestedRun): string {
    return join(this.config.folder, "runs", folderNameOf(launch));
  }

  spoolOf(launch: RequestedRun): string {
    return join(this.folderOf(launch), "run/spool/checkpoints");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutDownRuns();
    await this.stopAgent();
    await this.platform[Symbol.asyncDispose]();
  }
}
