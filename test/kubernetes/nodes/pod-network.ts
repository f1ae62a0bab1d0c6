/**
 * The network of a node's pods: a bridge of the host, and a network namespace with an address of its own for each pod.
 * The node serves Services on addresses of the bridge, in the upper part of its range. The bridge forwards nothing to
 * other networks. Podman's own CNI networks are not used, since they change the host's firewall and have no namespace
 * that several containers join before the first of them runs.
 *
 * Whatever a killed test leaves is removed by the next one: a bridge's name is also the prefix of its namespaces, and
 * its hardware address names the process that made it.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { absent } from "@trainyard/testing/needs";

const prefix = "tykb";
/** Ranges of 4,096 addresses from 10.200.0.0 on. */
const ranges = 768;
const namespacesPath = "/run/netns";
const serviceRange = 3_072;
const pods = { from: 256, to: 3_000 };
/** The first address is that of the API server. */
const services = { from: 3_074, to: 4_095 };

export type PodAddress = {
  /** The path of the network namespace. */
  readonly path: string;
  readonly ip: string;
};

/** The reason why no network can be made here; null if it can. With TRAINYARD_REQUIRE=podman it is an error. */
export function networkProblem(): string | null {
  const problem = lackingTool();
  return problem === null ? null : absent("podman", problem);
}

function lackingTool(): string | null {
  const bridge = `${prefix}probe${process.pid % 10_000}`;
  const made = spawnSync("ip", ["link", "add", "name", bridge, "type", "bridge"], {
    encoding: "utf8",
  });
  if (made.error !== undefined) return "ip of iproute2";
  if (made.status !== 0) return `a bridge (${made.stderr.trim()})`;
  spawnSync("ip", ["link", "delete", bridge]);
  const space = spawnSync("ip", ["netns", "add", bridge], { encoding: "utf8" });
  if (space.status !== 0) return `network namespaces (${space.stderr.trim()})`;
  spawnSync("ip", ["netns", "delete", bridge]);
  return null;
}

export class PodNetwork {
  /** The name of the bridge. */
  readonly bridge: string;
  readonly #range: number;
  readonly #takenPods = new Map<number, string>();
  readonly #takenServices = new Set<number>();
  #nextPod = pods.from;
  #nextService = services.from;

  private constructor(bridge: string, range: number) {
    this.bridge = bridge;
    this.#range = range;
  }

  /** Removes what killed processes left, and makes a bridge in a range that no route of the host covers. */
  static async open(): Promise<PodNetwork> {
    await sweep();
    for (let at = 0; at < ranges; at += 1) {
      const range = (process.pid * 7 + at) % ranges;
      const network = new PodNetwork(`${prefix}${range}`, range);
      if (!(await inUse(network.#ip(1))) && (await network.#make())) return network;
    }
    throw new Error("all ranges of 10.200.0.0 to 10.247.255.255 are in use");
  }

  /** The address of the bridge, where pods find the node. */
  get gateway(): string {
    return this.#ip(1);
  }

  /** Makes a network namespace with an address. */
  async addPod(): Promise<PodAddress> {
    const at = this.#free(pods, this.#nextPod, this.#takenPods);
    this.#nextPod = at + 1;
    const name = `${this.bridge}p${at}`;
    this.#takenPods.set(at, name);
    await ip(
      `netns add ${name}`,
      `link add name ${name} type veth peer name eth0 netns ${name}`,
      `link set ${name} master ${this.bridge} up`,
    );
    await ip.in(name)(
      "link set lo up",
      `address add ${this.#ip(at)}/20 dev eth0`,
      "link set eth0 up",
      `route add default via ${this.gateway}`,
    );
    return { path: `${namespacesPath}/${name}`, ip: this.#ip(at) };
  }

  async removePod({ ip: address }: PodAddress): Promise<void> {
    const [at, name] = [...this.#takenPods].find(([one]) => this.#ip(one) === address) ?? [];
    if (at === undefined || name === undefined) return;
    // The namespace takes both ends of its pair with it.
    await ip(`netns delete ${name}`);
    this.#takenPods.delete(at);
  }

  /** The address at which pods find the API server. */
  get apiServerAddress(): string {
    return this.#ip(services.from - 1);
  }

  /** Returns an address on which this process can listen. */
  takeServiceAddress(): string {
    const at = this.#free(services, this.#nextService, this.#takenServices);
    this.#nextService = at + 1;
    this.#takenServices.add(at);
    return this.#ip(at);
  }

  freeServiceAddress(address: string): void {
    for (const at of this.#takenServices) {
      if (this.#ip(at) === address) this.#takenServices.delete(at);
    }
  }

  async close(): Promise<void> {
    await removeNetwork(this.bridge);
  }

  /** Returns false if another process has made a bridge in the range just now. */
  async #make(): Promise<boolean> {
    try {
      await ip(`link add name ${this.bridge} address ${markOf(process.pid)} type bridge`);
    } catch (error) {
      if (String(error).includes("File exists")) return false;
      throw error;
    }
    await ip(
      `address add ${this.gateway}/20 dev ${this.bridge}`,
      `link set ${this.bridge} up`,
      // The host answers for every address of Services; a process may listen on each without further commands.
      `route add local ${this.#ip(serviceRange)}/22 dev ${this.bridge}`,
    );
    return true;
  }

  #free({ from, to }: typeof pods, next: number, taken: { has(at: number): boolean }): number {
    for (let step = 0; step < to - from; step += 1) {
      const at = from + ((next - from + step) % (to - from));
      // An address ends neither in 0 nor in 255, which people take for those of a network.
      if (!taken.has(at) && at % 256 !== 0 && at % 256 !== 255) return at;
    }
    throw new Error("all addresses of the node are in use");
  }

  #ip(offset: number): string {
    const at = this.#range * 4_096 + offset;
    return `10.${200 + Math.floor(at / 65_536)}.${Math.floor(at / 256) % 256}.${at % 256}`;
  }
}

/** Runs commands of `ip` in one process; `in` runs them in a network namespace. */
const ip = Object.assign(
  async (...lines: readonly string[]): Promise<void> => void (await batch([], lines)),
  {
    in:
      (name: string) =>
      async (...lines: readonly string[]): Promise<void> =>
        void (await batch(["-n", name], lines)),
  },
);

async function batch(options: readonly string[], lines: readonly string[]): Promise<string> {
  return await output([...options, "-batch", "-"], lines.join("\n"));
}

async function output(argv: readonly string[], input = ""): Promise<string> {
  const child = spawn("ip", argv, { stdio: ["pipe", "pipe", "pipe"], timeout: 30_000 });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const said: Buffer[] = [];
  const problems: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => problems.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return Buffer.concat(said).toString();
  throw new Error(`ip ${argv.join(" ")}: ${Buffer.concat(problems).toString().trim()} (${input})`);
}

type Link = { readonly ifname: string; readonly address: string };

async function sweep(): Promise<void> {
  const links = JSON.parse(
    (await output(["-j", "link", "show", "type", "bridge"])) || "[]",
  ) as Link[];
  for (const { ifname, address } of links) {
    const pid = pidIn(address);
    const isOurs = /^tykb\d+$/.test(ifname) && pid !== null;
    // The mark has no start time: what a killed process left may stay while another has its id.
    if (isOurs && !existsSync(`/proc/${pid}`)) await removeNetwork(ifname);
  }
}

async function removeNetwork(bridge: string): Promise<void> {
  const names = existsSync(namespacesPath) ? readdirSync(namespacesPath) : [];
  const lines = names
    .filter((name) => name.startsWith(`${bridge}p`))
    .map((name) => `netns delete ${name}`);
  // Two processes may remove the same remains.
  await output(["-force", "-batch", "-"], [...lines, `link delete ${bridge}`].join("\n")).catch(
    (error: unknown) => {
      if (!/Cannot find device|No such file/.test(String(error))) throw error;
    },
  );
}

async function inUse(address: string): Promise<boolean> {
  const said = await output(["-j", "-4", "route", "show", "match", address]).catch(() => "[]");
  const routes = JSON.parse(said || "[]") as readonly { dst: string }[];
  return routes.some(({ dst }) => dst !== "default");
}

/** A local hardware address with the id of the process, and a fixed rest. */
function markOf(pid: number): string {
  const bytes = [2, 0x54, pid >> 24, pid >> 16, pid >> 8, pid].map((byte) => byte & 255);
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function pidIn(address: string): number | null {
  const bytes = address.split(":").map((byte) => Number.parseInt(byte, 16));
  if (bytes[0] !== 2 || bytes[1] !== 0x54) return null;
  return bytes.slice(2).reduce((sum, byte) => sum * 256 + byte, 0);
}
