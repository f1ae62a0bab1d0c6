/** Looks at the leases of a cluster, and at the memory of the processes that serve callers. */
import { existsSync, readFileSync } from "node:fs";
import { clusterStatus } from "@trainyard/local-cluster";
import pg from "pg";
import type { World } from "../world/world.ts";

const served = ["gateway", "metrics"] as const;
const lookMs = 100;
const mebibyte = 1024;

export class ClusterWatch implements Disposable {
  readonly #pids: Readonly<Record<string, number>>;
  readonly #leases: string;
  readonly #processes: string;
  readonly #rest: Readonly<Record<string, number>>;
  readonly #most: Record<string, number>;
  readonly #timer: NodeJS.Timeout;

  private constructor(pids: Readonly<Record<string, number>>, leases: string, processes: string) {
    this.#pids = pids;
    this.#leases = leases;
    this.#processes = processes;
    this.#rest = this.#used();
    this.#most = { ...this.#rest };
    this.#timer = setInterval(() => this.#look(), lookMs);
  }

  static async start(world: World): Promise<ClusterWatch> {
    const pids: Record<string, number> = {};
    for (const name of served) pids[name] = await world.pidOf(name);
    return new ClusterWatch(pids, await leasesOf(world), await processesOf(world));
  }

  /** The most memory above rest of each process until now, in MiB. */
  get aboveRest(): Readonly<Record<string, number>> {
    return Object.fromEntries(
      served.map((name) => [name, (this.#most[name] ?? 0) - (this.#rest[name] ?? 0)]),
    );
  }

  /** A sentence for each lease and process that is not the one of the beginning. */
  async lost(world: World): Promise<readonly string[]> {
    const [leases, processes] = [await leasesOf(world), await processesOf(world)];
    return [
      ...(leases === this.#leases ? [] : [`leases were lost: ${this.#leases}, then ${leases}`]),
      ...(processes === this.#processes
        ? []
        : [`processes ended: ${this.#processes}, then ${processes}`]),
    ];
  }

  #used(): Record<string, number> {
    return Object.fromEntries(
      Object.entries(this.#pids).map(([name, pid]) => {
        // A process that has ended is found by its pid at the end.
        const file = `/proc/${pid}/status`;
        const status = existsSync(file) ? readFileSync(file, "utf8") : "";
        return [name, Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / mebibyte];
      }),
    );
  }

  #look(): void {
    for (const [name, used] of Object.entries(this.#used()))
      this.#most[name] = Math.max(this.#most[name] ?? 0, used);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** The epochs of all leases: each begins when the lease has another owner, or was lost. */
async function leasesOf(world: World): Promise<string> {
  const client = new pg.Client((await clusterStatus(world.home))?.postgresUrl ?? "");
  await client.connect();
  try {
    const text = "select lease, epoch from log.leases order by lease";
    const { rows } = await client.query<{ lease: string; epoch: string }>(text);
    return rows.map(({ lease, epoch }) => `${lease} ${epoch}`).join(", ");
  } finally {
    await client.end();
  }
}

async function processesOf(world: World): Promise<string> {
  return (await world.processes()).map(({ name, pid }) => `${name} ${pid}`).join(", ");
}
