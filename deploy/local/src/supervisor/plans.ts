/** Plans the processes of a cluster from its options: their commands, environments and readiness checks. */
import { join } from "node:path";
import { get } from "@trainyard/kernel/http";
import { programFile } from "@trainyard/kernel/program-file";
import {
  agentEnvironment,
  agentSettings,
  EnvironmentFiles,
  localUrl,
  serviceEnvironment,
  type Values,
} from "./environment.ts";
import { checkout, type Home, logOf } from "../home/home.ts";
import { inheritedEnvironment } from "../processes/inherited-environment.ts";
import type { Command } from "../processes/launch.ts";
import { limits } from "../limits.ts";
import type { Ports } from "./ports.ts";
import type { ProcessPlan } from "../processes/process-plan.ts";
import type { Secrets } from "../home/secrets.ts";
import type { ServiceEntry } from "./services.ts";

export type AgentEntry = { readonly name: string; readonly slots: number | null };

export type PlanInputs = {
  readonly home: Home;
  readonly secrets: Secrets;
  readonly ports: Ports;
  readonly services: readonly ServiceEntry[];
  readonly agents: readonly AgentEntry[];
  readonly agentMain: string;
  /** True for one process per service, false for one process for all. */
  readonly separate: boolean;
  /**
   * The folder of the built Web UI, which may not exist yet; null without a Web UI, or if the caller named a folder.
   */
  readonly webDir: string | null;
};

/** The name of the process that runs all services when they are not separate. */
export const allInOne = "trainyard";

export function agentEntries(count: number, slots: number | null): readonly AgentEntry[] {
  return Array.from({ length: count }, (_, n) => ({ name: `agent-${n + 1}`, slots }));
}

/**
 * The slot type is the CPU unless the caller sets one. All agents share one host, so only the first may offer its GPUs.
 */
function slotTypeOf(agent: number, caller: NodeJS.ProcessEnv): string {
  return (agent === 0 ? caller["TRAINYARD_AGENT_SLOT_TYPE"] : undefined) ?? "cpu";
}

/** The plans of the services, then of the agents. Also writes their environment files. */
export function planProcesses(inputs: PlanInputs): readonly ProcessPlan[] {
  const { home, secrets, ports, services, agents } = inputs;
  const values = new Map<string, Values>();
  for (const service of services) {
    const own = serviceEnvironment(service, home, secrets, ports);
    const serves = service.name === "gateway" && inputs.webDir !== null;
    values.set(service.name, serves ? { ...own, TRAINYARD_WEB_DIR: inputs.webDir } : own);
  }
  for (const [n, agent] of agents.entries()) {
    const offering = { ...agent, slotType: slotTypeOf(n, process.env) };
    values.set(agent.name, agentEnvironment(offering, home, secrets, ports));
  }
  const decided = [...values.values()].flatMap((entries) => Object.keys(entries));
  for (const { name } of agents)
    values.set(name, { ...values.get(name), ...agentSettings(home, name) });
  const files = new EnvironmentFiles(home);
  files.write(values);
  const node: StartNode = (name, main, parameters, own) => {
    const names = new Set([...decided, ...Object.keys(values.get(name) ?? {})]);
    const environment = { ...inheritedEnvironment(process.env, names), ...own };
    return () => ({
      program: process.execPath,
      parameters: [programFile(supervised), programFile(main), ...parameters],
      environment,
      folder: checkout,
      user: null,
    });
  };
  const common = { inputs, node, files };
  return [
    ...(inputs.separate ? services.map((one) => planService(one, common)) : planAllInOne(common)),
    ...agents.map((agent) => planAgent(agent, common)),
  ];
}

const supervised = join(import.meta.dirname, "supervised-main.ts");

/** The command of a program, which runs from its compiled file if there is one at the time of its start. */
type StartNode = (
  name: string,
  main: string,
  parameters: readonly string[],
  own: Values,
) => () => Command;

type Common = {
  readonly inputs: PlanInputs;
  readonly files: EnvironmentFiles;
  readonly node: StartNode;
};

function planService(service: ServiceEntry, common: Common): ProcessPlan {
  const { inputs, files } = common;
  const main = join(service.folder, "src", "main.ts");
  const own = { TRAINYARD_ENV_FILE: files.fileOf(service.name) };
  return {
    name: service.name,
    kind: "service",
    log: logOf(inputs.home, service.name),
    command: common.node(service.name, main, [], own),
    stopSignal: "SIGTERM",
    stopLimitMs: limits.stopServiceMs,
    problem: () => httpProblem(inputs.ports[service.name]),
  };
}

function planAllInOne(common: Common): readonly ProcessPlan[] {
  const { inputs, files } = common;
  if (inputs.services.length === 0) return [];
  const main = join(import.meta.dirname, "all-main.ts");
  const modules = inputs.services.map((one) => one.folder);
  return [
    {
      name: allInOne,
      kind: "service",
      log: logOf(inputs.home, allInOne),
      command: common.node(allInOne, main, [files.folder, ...modules], {}),
      stopSignal: "SIGTERM",
      stopLimitMs: limits.stopServiceMs,
      problem: async () => {
        for (const service of inputs.services) {
          const problem = await httpProblem(inputs.ports[service.name]);
          if (problem !== null) return `${service.name}: ${problem}`;
        }
        return null;
      },
    },
  ];
}

function planAgent(agent: AgentEntry, common: Common): ProcessPlan {
  const { inputs, files } = common;
  const own = { TRAINYARD_ENV_FILE: files.fileOf(agent.name) };
  return {
    name: agent.name,
    kind: "agent",
    log: logOf(inputs.home, agent.name),
    command: common.node(agent.name, inputs.agentMain, [], own),
    // SIGTERM ends an agent and keeps its trials running; SIGUSR2 ends both.
    stopSignal: "SIGTERM",
    downSignal: "SIGUSR2",
    stopLimitMs: limits.stopAgentMs,
    problem: () => httpProblem(inputs.ports[agent.name]),
  };
}

/**
 * The answer of a service that waits to take over from another replica. The cluster has no replicas, so it does not
 * serve yet.
 */
const standby = "standby";

/** Resolves to null when /readyz answers that the service is ready, else to the problem. */
function httpProblem(port: number | undefined): Promise<string | null> {
  return new Promise((resolve) => {
    const request = get(
      `${localUrl(port)}/readyz`,
      { agent: false, timeout: 2_000 },
      (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          body += chunk;
        });
        response.on("end", () => {
          const serves = response.statusCode === 200 && body.trim() !== standby;
          resolve(serves ? null : body.trim());
        });
        response.on("error", (error) => resolve(error.message));
      },
    );
    request.on("timeout", () => request.destroy(new Error("no answer within 2 s")));
    request.on("error", (error) => resolve(error.message));
  });
}
