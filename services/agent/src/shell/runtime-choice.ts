/** Chooses the runtime of runs: the configured one, else an engine if one is configured, else processes. */
import { Fault, type Clock } from "@trainyard/kernel";
import type { AgentConfig } from "../config.ts";
import { socketOf, userOf } from "../container-config.ts";
import type { EngineKind } from "../core/container-body.ts";
import { limitsOf } from "../core/run-limits.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { processRuntime } from "../runtime/processes.ts";
import type { Telemetry } from "../telemetry.ts";
import type { RunUsers } from "../users/run-users.ts";
import { holdingHere, pythonIn } from "../supervisor/python.ts";
import { chooseProcessGroups } from "./process-groups.ts";

export type RuntimeDeps = {
  readonly config: AgentConfig;
  /** The agent's state folder. */
  readonly folder: string;
  readonly sdkPath: string | null;
  readonly users: RunUsers;
  readonly clock: Clock;
  readonly events: Telemetry;
};

/** Throws if the configured runtime is not available here. */
export async function runtimeOf(deps: RuntimeDeps): Promise<Runtime> {
  const container = deps.config.container;
  if (
    container.runtime === "process" ||
    (container.runtime === "auto" && container.socket === "")
  ) {
    return processes(deps);
  }
  const socket =
    container.runtime === "auto" ? container.socket : socketFor(deps, container.runtime);
  const engine = container.runtime === "auto" ? await answering(socket) : container.runtime;
  return await containers(deps, engine, socket);
}

function processes({ config, sdkPath, users, events }: RuntimeDeps): Runtime {
  const { apiUrl, metricsUrl, inherited, processGroups: asked, slotLimits } = config;
  const limits = limitsOf(slotLimits, 1);
  const holding = holdingHere(limits);
  // The mechanism that the agent reports; each run checks its own at its start. The agent fails to start if the
  // configured mechanism is not allowed.
  const hasLimits = Object.keys(limits).length > 0;
  const { mechanism, problems } = chooseProcessGroups(asked, holding, hasLimits);
  events.processGroups(mechanism, problems);
  const isSeparate = config.privateTmp && holding.folders === null;
  const how = { asked, mechanism, slotLimits, isSeparate };
  const places = { apiUrl, metricsUrl, sdkPath, inherited };
  return processRuntime({ ...places, ...how, users, python: pythonIn() });
}

async function containers(deps: RuntimeDeps, engine: EngineKind, socket: string): Promise<Runtime> {
  const { config, folder, sdkPath, clock, events } = deps;
  if (config.users.range !== null) {
    throw new Fault(
      "no_run_users",
      `TRAINYARD_AGENT_USER_IDS is set, and this agent runs containers (${engine}), which have the user of TRAINYARD_AGENT_CONTAINER_USER: unset it, or set TRAINYARD_AGENT_RUNTIME to process`,
      { retry: "never" },
    );
  }
  const container = config.container;
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  events.containers(engine, socket);
  // An agent without an engine does not load its client.
  const { containerRuntime } = await import("../runtime/containers.ts");
  return containerRuntime({
    ...container,
    ...config.slotLimits,
    engine,
    socket,
    user: userOf(container, engine, uid, gid),
    apiUrl: container.apiUrl ?? config.apiUrl,
    metricsUrl: container.metricsUrl ?? config.metricsUrl,
    sdkPath,
    python: pythonIn(),
    checkpointDir: config.checkpointDir,
    agent: config.name,
    folder,
    clock,
  });
}

function socketFor({ config }: RuntimeDeps, engine: EngineKind): string {
  return socketOf(engine, config.container.socket, process.getuid?.() ?? 0);
}

async function answering(socket: string): Promise<EngineKind> {
  const { engineAt, kindOfEngine, problemOf } = await import("../runtime/engine.ts");
  try {
    return await kindOfEngine(engineAt(socket));
  } catch (error) {
    throw new Fault(
      "no_engine",
      `${problemOf(error, socket)}: start its service, or set TRAINYARD_AGENT_RUNTIME to docker or podman so that the agent can start before it`,
      { retry: "later", cause: error },
    );
  }
}
