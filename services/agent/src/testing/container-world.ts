/** An agent that runs containers, between a scripted platform and an engine. */
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { Plain } from "@trainyard/contracts";
import type { AllocationReport, Launch, RequestedRun } from "@trainyard/contracts/agent";
import { createLogger } from "@trainyard/runtime";
import { type AgentService, createService } from "../service.ts";
import { folderNameOf } from "../state/layout.ts";
import { agentConfig, nowhere } from "./agent-config.ts";
import { configured, newFolder } from "./examples.ts";
import { testImage } from "./podman.ts";
import { ScriptedPlatform } from "./scripted-platform.ts";

type Variables = Readonly<Record<string, string>>;

export class ContainerWorld implements AsyncDisposable {
  readonly platform: ScriptedPlatform;
  readonly folder = newFolder();
  readonly #hub: MemoryHub;
  readonly #variables: Variables;
  #agent: AgentService | null = null;

  private constructor(hub: MemoryHub, platform: ScriptedPlatform, variables: Variables) {
    this.#hub = hub;
    this.platform = platform;
    this.#variables = variables;
  }

  /** Opens the world without starting the agent. */
  static async open(socket: string, variables: Variables = {}): Promise<ContainerWorld> {
    const hub = createMemoryBus();
    const platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
    const engine = { TRAINYARD_AGENT_RUNTIME: "podman", TRAINYARD_AGENT_ENGINE_SOCKET: socket };
    return new ContainerWorld(hub, platform, { ...engine, ...variables });
  }

  async startAgent(more: Variables = {}): Promise<void> {
    const config = agentConfig(this.platform.url, {
      TRAINYARD_NATS_PASSWORD: "hush",
      TRAINYARD_AGENT_DIR: this.folder,
      TRAINYARD_API_URL: nowhere,
      ...this.#variables,
      ...more,
    });
    const bus = this.#hub.connect("agent-rack");
    this.#agent = await createService(config, { bus, logger: createLogger("agent", "silent") });
    await this.#agent.start();
  }

  /** Stops the agent; its runs continue for the next agent. */
  async stopAgent(): Promise<void> {
    await this.#agent?.[Symbol.asyncDispose]();
    this.#agent = null;
  }

  async shutDownRuns(): Promise<void> {
    await this.#agent?.shutDownRuns();
  }

  pathOf(launch: RequestedRun): string {
    return join(this.folder, "runs", folderNameOf(launch));
  }

  async ended(launch: Plain<Launch>): Promise<Plain<AllocationReport>> {
    this.platform.run(launch);
    return await this.platform.ended(launch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutDownRuns();
    await this.stopAgent();
    await this.platform[Symbol.asyncDispose]();
  }
}

/** The part of a launch that names the image, with further configuration. */
export function inImage(image: string = testImage, more: object = {}): Partial<Plain<Launch>> {
  return configured({ ...more, environment: { image, ...sectionOf(more) } });
}

function sectionOf(more: object): object {
  return (more as { environment?: object }).environment ?? {};
}
