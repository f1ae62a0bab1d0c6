/**
 * Counts the out-of-memory kills in a container's cgroup while it runs: Podman 4.3 does not report them, and a cgroup
 * goes with its last process. cgroup v2 counts them in memory.events, v1 in memory.oom_control.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../limits.ts";

export class MemoryWatch implements Disposable {
  readonly #file: string | null;
  readonly #limitBytes: number | undefined;
  readonly #timer: NodeJS.Timeout;
  #kills = 0;

  constructor(pid: number, limitBytes: number | undefined) {
    this.#file = counterOf(readText(`/proc/${pid}/cgroup`), readText("/proc/self/mountinfo"));
    this.#limitBytes = limitBytes;
    this.#timer = setInterval(() => this.#look(), limits.memoryLookMs);
    this.#timer.unref();
  }

  /** A sentence for the run's end; empty if no kill was seen. */
  verdict(): string {
    this.#look();
    if (this.#kills === 0) return "";
    const of =
      this.#limitBytes === undefined ? "" : ` of ${Math.floor(this.#limitBytes / 1024 ** 2)} MiB`;
    const killed = this.#kills === 1 ? "a process was" : `${this.#kills} processes were`;
    return `its container reached its memory limit${of}, and ${killed} killed`;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (this.#file === null) return;
    const kills = Number(/^oom_kill (\d+)$/m.exec(readText(this.#file))?.[1] ?? 0);
    this.#kills = Math.max(this.#kills, kills);
  }
}

/** The file with the counter, from the texts of /proc/<pid>/cgroup and mountinfo; null for none. */
export function counterOf(membership: string, mountinfo: string): string | null {
  const v1 = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m.exec(membership)?.[1];
  if (v1 !== undefined) {
    const at = mountOf(
      mountinfo,
      (type, options) => type === "cgroup" && options.includes("memory"),
    );
    return at === null ? null : join(at, v1, "memory.oom_control");
  }
  const v2 = /^0::(\/.*)$/m.exec(membership)?.[1];
  const at = mountOf(mountinfo, (type) => type === "cgroup2");
  return v2 === undefined || at === null ? null : join(at, v2, "memory.events");
}

/** In a line of proc_pid_mountinfo(5) the fifth field is the mount point; type, source and options follow " - ". */
function mountOf(
  mountinfo: string,
  isIt: (type: string, options: readonly string[]) => boolean,
): string | null {
  for (const line of mountinfo.split("\n")) {
    const [fields = "", after = ""] = line.split(" - ");
    const [type = "", , options = ""] = after.split(" ");
    if (isIt(type, options.split(","))) return fields.split(" ")[4] ?? null;
  }
  return null;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
