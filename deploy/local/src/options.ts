import { parseArgs } from "node:util";
import type { Arrival } from "./home-path.ts";

/** The options of a cluster's start, passed to the supervisor as arguments. None of them is secret. */
export type ClusterOptions = {
  readonly agents: number;
  /** Slots of each agent; null for the number of CPU cores. */
  readonly slots: number | null;
  /** True for one process per service instead of one for all. */
  readonly processes: boolean;
  /** Whether the supervisor restarts dead processes. */
  readonly restart: boolean;
  /** A module that exports `services` and `agentMain` in place of ./supervisor/services.ts, for tests. */
  readonly servicesModule: string | null;
  /** Whether the Web UI is built and served. */
  readonly web: boolean;
  /** For a home that is not at the path where it was last started; null refuses to start it there. */
  readonly arrival: Arrival | null;
};

export function optionArguments(home: string, options: ClusterOptions): readonly string[] {
  return [
    `--home=${home}`,
    `--agents=${options.agents}`,
    ...(options.slots === null ? [] : [`--slots=${options.slots}`]),
    ...(options.processes ? ["--processes"] : []),
    ...(options.restart ? [] : ["--no-restart"]),
    ...(options.web ? ["--web"] : []),
    ...(options.arrival === null ? [] : [`--${options.arrival}`]),
    ...(options.servicesModule === null ? [] : [`--services-module=${options.servicesModule}`]),
  ];
}

export function parseOptionArguments(argv: readonly string[]): {
  readonly home: string;
  readonly options: ClusterOptions;
} {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      home: { type: "string" },
      agents: { type: "string", default: "1" },
      slots: { type: "string" },
      processes: { type: "boolean", default: false },
      "no-restart": { type: "boolean", default: false },
      web: { type: "boolean", default: false },
      moved: { type: "boolean", default: false },
      copy: { type: "boolean", default: false },
      "services-module": { type: "string" },
    },
  });
  if (values.home === undefined) throw new Error("--home is missing");
  return {
    home: values.home,
    options: {
      agents: Number(values.agents),
      slots: values.slots === undefined ? null : Number(values.slots),
      processes: values.processes,
      restart: !values["no-restart"],
      web: values.web,
      arrival: values.copy ? "copy" : values.moved ? "moved" : null,
      servicesModule: values["services-module"] ?? null,
    },
  };
}
