/** Runs as processes of this host. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { argvOf, environmentOf, type Surroundings } from "../core/environment.ts";
import { hookName, withHook } from "../core/startup-hook.ts";
import type { ProcessMechanism } from "../state/run-group.ts";
import type { RunUsers } from "../users/run-users.ts";
import type { Runtime } from "./runtime.ts";

export type ProcessSettings = Pick<
  Surroundings,
  "apiUrl" | "metricsUrl" | "sdkPath" | "inherited"
> & {
  /** The configured mechanism; the mechanism that a run gets is decided at its start. */
  readonly asked: ProcessMechanism | "auto";
  readonly mechanism: ProcessMechanism;
  readonly users: RunUsers;
};

export function processRuntime(settings: ProcessSettings): Runtime {
  return {
    mechanism: settings.mechanism,
    async order({ folder, work, slots, storages }) {
      const { launch, runDir } = folder;
      const inherited = settings.users.variables(folder, settings.inherited);
      const surroundings = { ...settings, inherited, runDir, storages, slots };
      const environment = environmentOf(launch, surroundings);
      return {
        argv: commandIn(work, argvOf(launch)),
        environment: { ...environment, PWD: work },
        work,
        mechanism: settings.asked,
        ...settings.users.startAs(folder),
      };
    },
    // Processes leave nothing that would have to be removed.
    async sweep() {},
  };
}

/** The command, with the startup hook of the code's folder before it, if it has one. */
export function commandIn(work: string, argv: readonly string[]): readonly string[] {
  return existsSync(join(work, hookName)) ? withHook(argv) : argv;
}
