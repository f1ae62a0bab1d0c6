import { parseArgs } from "node:util";

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
};

export function optionArguments(home: string, options: ClusterOptions): readonly string[] {
  return [
    `--home=${home}`,
    `--agents=${options.agents}`,
    ...(options.slots === null ? [] : [`--slots=${options.slots}`]),
    ...(options.processes ? ["--processes"] : []),
    ...(options.restart ? [] : ["--no-restart"]),
    ...(options.web ? ["--web"] : []),
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
      servicesModule: values["services-module"] ?? null,
    },
  };
}
