/** The use of one run of a task with an idle_timeout: looks at it, and ends it when nobody has used it for so long. */
import type { Plain } from "@trainyard/contracts";
import type { TaskUse } from "@trainyard/contracts/api";
import { taskConfig } from "@trainyard/experiment-config/recorded";
import type { TaskEndRecord } from "../core/records.ts";
import { limits } from "../limits.ts";
import { isPageKind } from "../servers/kinds.ts";
import { askUse } from "../servers/server-use.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { askHolder } from "./holder-use.ts";
import { hostUptimeMs, readUse, writeUse } from "./idle-record.ts";
import { PortUse } from "./port-use.ts";
import {
  stateAfter,
  idleMsOf,
  type Observation,
  observationOf,
  type UseState,
} from "./use-rule.ts";

export type IdleFields = Pick<
  Plain<TaskUse>,
  "inUse" | "idleSeconds" | "idleTimeoutSeconds" | "notice"
>;

export type LookedAt = {
  readonly folder: Pick<RunFolder, "launch" | "path" | "runDir">;
  readonly end: (record: TaskEndRecord, graceMs: number) => void;
};

const unwatched: IdleFields = { inUse: true, idleSeconds: 0, idleTimeoutSeconds: 0, notice: "" };

export class RunIdle {
  readonly ports = new PortUse();
  readonly #run: LookedAt;
  readonly #uptimeMs: () => number;
  readonly #timeoutMs: number | null;
  #state: UseState | null = null;
  /** The state in the run's folder. */
  #written: UseState | null = null;

  constructor(run: LookedAt, uptimeMs: () => number = hostUptimeMs) {
    this.#run = run;
    this.#uptimeMs = uptimeMs;
    this.#timeoutMs = timeoutMsOf(run.folder.launch);
    if (this.#timeoutMs !== null) this.#state = this.#written = readUse(run.folder.path);
  }

  /** Null for a run that is never idle. */
  get timeoutMs(): number | null {
    return this.#timeoutMs;
  }

  /** The fields of TaskUse at this moment. */
  get fields(): IdleFields {
    if (this.#timeoutMs === null) return unwatched;
    const idleTimeoutSeconds = this.#timeoutMs / 1_000;
    if (this.#state === null) return { ...unwatched, idleTimeoutSeconds };
    const upMs = this.#uptimeMs();
    const idleMs = idleMsOf(this.#state, upMs);
    // The state is as old as the last look.
    const inUse = idleMs < 2 * intervalMsOf(this.#timeoutMs);
    const idleSeconds = inUse ? 0 : Math.floor(idleMs / 1_000);
    return { inUse, idleSeconds, idleTimeoutSeconds, notice: noticeOf(this.#state, upMs) };
  }

  get #config() {
    return taskConfig(JSON.parse(this.#run.folder.launch.config));
  }

  /** Looks at a run whose processes run. Only one look at a time. */
  async look(signal: AbortSignal): Promise<void> {
    if (this.#timeoutMs === null) return;
    const look = await this.#seen(signal);
    if (signal.aborted) return;
    const upMs = this.#uptimeMs();
    this.#state = stateAfter(this.#state, look, upMs);
    this.#write(this.#state);
    if (idleMsOf(this.#state, upMs) < this.#timeoutMs) return;
    const message = `nobody used it for ${inWords(this.#timeoutMs / 1_000)}`;
    this.#run.end({ reason: "idle", message }, this.#config.preemption_timeout * 1_000);
  }

  async #seen(signal: AbortSignal): Promise<Observation> {
    const { folder } = this.#run;
    const kind = folder.launch.task?.kind ?? "";
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.useAnswerMs)]);
    try {
      const [typedAgoMs, page] = await Promise.all([
        askHolder(folder.runDir, limit),
        isPageKind(kind) ? askUse(folder, limit) : null,
      ]);
      const portsAgoMs = this.ports.agoMs(this.#uptimeMs());
      return observationOf(kind, this.#config.notebook_idle_type, { typedAgoMs, portsAgoMs, page });
    } catch {
      // The task's own programs may have taken the sockets, or keep them busy.
      return "silent";
    }
  }

  #write(state: UseState): void {
    const { usedMs, held, silentMs } = this.#written ?? { usedMs: 0, held: false, silentMs: null };
    const isNear = Math.abs(state.usedMs - usedMs) < limits.useWrittenMs;
    if (isNear && state.held === held && state.silentMs === silentMs) return;
    if (writeUse(this.#run.folder.path, state)) this.#written = state;
  }
}

/** The interval of looks at a run with this idle_timeout. */
export function intervalMsOf(timeoutMs: number): number {
  return Math.min(limits.useLookMs, Math.max(limits.useLookLeastMs, timeoutMs / 4));
}

/** A command without ports is work that ends by itself. */
function timeoutMsOf({ task, proxyPorts }: RunFolder["launch"]): number | null {
  const seconds = task?.idleTimeoutSeconds ?? 0;
  const isUnserved = task?.kind === "command" && proxyPorts.length === 0;
  return seconds <= 0 || isUnserved ? null : seconds * 1_000;
}

function noticeOf({ silentMs }: UseState, upMs: number): string {
  const forMs = silentMs === null ? 0 : upMs - silentMs;
  if (forMs < limits.useNoticeMs) return "";
  const minutes = Math.floor(forMs / 60_000);
  return `it has not answered its agent for ${minutes} minutes, so that it counts as used and does not end as idle`;
}

/** Returns a duration in the largest unit that divides it. */
export function inWords(seconds: number): string {
  const units = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
    [1, "second"],
  ] as const;
  const [size, unit] = units.find(([one]) => seconds % one === 0 && seconds > 0) ?? [1, "second"];
  const amount = seconds / size;
  return `${amount} ${unit}${amount === 1 ? "" : "s"}`;
}
