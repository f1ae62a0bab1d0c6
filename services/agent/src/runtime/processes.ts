/** Runs as processes of this host. */
import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { environmentOf, type Surroundings } from "../core/environment.ts";
import { ownFoldersOf, shmBytes } from "../core/own-folders.ts";
import { limitsOf, type SlotLimits } from "../core/run-limits.ts";
import { hookName, withHook } from "../core/startup-hook.ts";
import { names } from "../state/layout.ts";
import type { ProcessMechanism } from "../state/run-group.ts";
import type { RunUsers } from "../users/run-users.ts";
import type { Runtime } from "./runtime.ts";
import { heldCommand } from "./task-holder.ts";

export type ProcessSettings = Pick<
  Surroundings,
  "apiUrl" | "metricsUrl" | "sdkPath" | "inherited"
> & {
  /** The configured mechanism; the mechanism that a run gets is decided at its start. */
  readonly asked: ProcessMechanism | "auto";
  readonly mechanism: ProcessMechanism;
  readonly slotLimits: SlotLimits;
  /** Whether runs have a /dev/shm and a /tmp of their own. */
  readonly isSeparate: boolean;
  readonly users: RunUsers;
  /** The command before a program in Python that the agent brings. */
  readonly python: readonly string[];
};

export function processRuntime(settings: ProcessSettings): Runtime {
  return {
    mechanism: settings.mechanism,
    // A run that names a path below it keeps the host's.
    sharesMemory: true,
    async order({ folder, work, slots, hostSlots, storages }) {
      const { launch, runDir } = folder;
      const inherited = settings.users.variables(folder, settings.inherited);
      const home = folder.keepsWork ? work : null;
      const surroundings = { ...settings, inherited, runDir, home, storages, slots };
      const environment = { ...environmentOf(launch, surroundings), PWD: work };
      const argv = commandIn(work, heldCommand(folder, settings.python));
      const named = { ...environmentOf(launch, { ...surroundings, inherited: {} }), PWD: work };
      const own = ownFoldersOf(argv, named, {
        shm: shmBytes(totalmem(), slots.length, hostSlots),
        tmp: join(folder.path, names.tmp, names.tmp),
      });
      const limits = limitsOf(settings.slotLimits, slots.length);
      return {
        argv,
        environment,
        work,
        mechanism: settings.asked,
        ...(Object.keys(limits).length === 0 ? {} : { limits }),
        ...(settings.isSeparate ? { own } : {}),
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
