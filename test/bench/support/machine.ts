/** Describes the machine of a measurement, and how much other processes used it meanwhile. */
import { readdirSync, readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";

export type Machine = {
  readonly cpus: number;
  readonly cpuModel: string;
  readonly memoryGiB: number;
  readonly node: string;
  /**
   * The share of all cores, from 0 to 1, that other processes used; null if unknown. This process, its children and
   * processes that it named do not count.
   */
  readonly othersCpu: number | null;
};

type Sample = { readonly total: number; readonly busy: number; readonly own: number };

/** utime, stime, cutime, cstime are fields 14 to 17, counted after the command's closing parenthesis. */
function processTimes(pid: string): { parent: string; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: fields[1] ?? "", ticks };
  } catch {
    // The process ended between the listing and the reading.
    return undefined;
  }
}

/**
 * Returns the processor time of these processes and all their descendants, including ended ones that were waited for.
 */
function ticksOf(roots: ReadonlySet<string>): number {
  const seen = new Map<string, { parent: string; ticks: number }>();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const times = processTimes(pid);
    if (times !== undefined) seen.set(pid, times);
  }
  const isOurs = (pid: string): boolean => {
    for (let at: string | undefined = pid; at !== undefined; at = seen.get(at)?.parent) {
      if (roots.has(at)) return true;
    }
    return false;
  };
  let ticks = 0;
  for (const [pid, times] of seen) if (isOurs(pid)) ticks += times.ticks;
  return ticks;
}

function sample(roots: ReadonlySet<string>): Sample | undefined {
  if (process.platform !== "linux") return undefined;
  const line = readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "";
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + irq + soft;
  return { total: busy + idle + wait, busy, own: ticksOf(roots) };
}

/** Watches the machine while a benchmark runs. */
export class MachineWatch {
  readonly #roots = new Set([String(process.pid)]);
  readonly #start = sample(this.#roots);
  /** The ticks of named processes that have ended without being waited for by this process. */
  #left = 0;

  /** Counts a process that is not a child of this one as the benchmark's, until the handle is disposed. */
  own(pid: number): Disposable {
    const one = new Set([String(pid)]);
    const before = ticksOf(one);
    this.#roots.add(String(pid));
    this.#left -= before;
    return {
      [Symbol.dispose]: () => {
        this.#roots.delete(String(pid));
        this.#left += ticksOf(one);
      },
    };
  }

  /** Returns the machine, with the other processes' share so far. */
  machine(): Machine {
    const end = sample(this.#roots);
    let othersCpu: number | null = null;
    if (this.#start !== undefined && end !== undefined) {
      const own = end.own + this.#left - this.#start.own;
      const others = end.busy - this.#start.busy - own;
      othersCpu = Number(Math.max(0, others / (end.total - this.#start.total)).toFixed(3));
    }
    return {
      cpus: cpus().length,
      cpuModel: cpus()[0]?.model ?? "unknown",
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      node: process.version,
      othersCpu,
    };
  }
}
