/**
 * A private Slurm: munged, slurmctld and a slurmd per node, on free ports of 127.0.0.1, with all files in one temporary
 * folder. On Debian it needs the packages munge, slurmctld, slurmd and slurm-client.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "@trainyard/testing";
import { eventually } from "../../../world/eventually.ts";

export type SlurmSize = { readonly nodes: number; readonly cpusOfNode: number };

const programs = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo"] as const;
/** Includes /usr/sbin, where Debian installs servers; a user's PATH may lack it. */
const path = [process.env["PATH"] ?? "", "/usr/sbin", "/usr/bin"].join(delimiter);
const startMs = 60_000;
const endMs = 10_000;

/** Returns a sentence that says why Slurm cannot run here; null if it can. */
export function slurmProblem(): string | null {
  const missing = programs.filter(
    (name) => !path.split(delimiter).some((folder) => existsSync(join(folder, name))),
  );
  if (missing.length > 0) return `${missing.join(", ")} not installed`;
  return process.getuid?.() === 0 ? null : "Slurm's servers run as root only";
}

export class Slurm implements AsyncDisposable {
  /** A folder to which jobs may write. */
  readonly folder = mkdtempSync(join(tmpdir(), "trainyard-slurm-"));
  readonly #children: ChildProcess[] = [];
  readonly #environment = { PATH: path, SLURM_CONF: join(this.folder, "slurm.conf") };

  /** Starts Slurm and waits until all nodes are idle. */
  static async start(size: SlurmSize): Promise<Slurm> {
    const slurm = new Slurm();
    try {
      await slurm.#start(size);
      return slurm;
    } catch (error) {
      await slurm[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pids(): readonly number[] {
    return this.#children.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Runs one of Slurm's client programs and returns its output. */
  async call(program: "sbatch" | "squeue" | "sinfo", ...words: string[]): Promise<string> {
    const options = { env: this.#environment, cwd: this.folder };
    const { stdout } = await promisify(execFile)(program, words, options);
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Processes end in the reverse order of their start, so that each ends before the server it uses.
    for (const child of this.#children.toReversed()) await ended(child);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start({ nodes, cpusOfNode }: SlurmSize): Promise<void> {
    const ports = await Promise.all(Array.from({ length: nodes + 1 }, freePort));
    const at = (name: string): string => join(this.folder, name);
    writeFileSync(at("munge.key"), randomBytes(128), { mode: 0o400 });
    writeFileSync(at("slurm.conf"), configuration(this.folder, cpusOfNode, ports));
    mkdirSync(at("state"));
    const [socket, key] = [`--socket=${at("munge.socket")}`, `--key-file=${at("munge.key")}`];
    const files = ["pid", "log", "seed"].map((name) => `--${name}-file=${at(`munged.${name}`)}`);
    this.#spawn("munged", ["--foreground", "--force", socket, key, ...files]);
    await eventually("munged answers", async () => existsSync(at("munge.socket")), startMs);
    this.#spawn("slurmctld", ["-D", "-f", at("slurm.conf")]);
    for (let n = 1; n <= nodes; n += 1) {
      this.#spawn("slurmd", ["-D", "-N", `node${n}`, "-f", at("slurm.conf")], `node${n}`);
    }
    const idle = async (): Promise<boolean> =>
      (await this.call("sinfo", "--noheader", "--states=idle", "--format=%D")) === String(nodes);
    await eventually("all nodes of Slurm are idle", idle, startMs);
  }

  #spawn(program: string, words: readonly string[], name = program): void {
    const log = openSync(join(this.folder, `${name}.out`), "a");
    const options = { env: this.#environment, cwd: this.folder };
    this.#children.push(spawn(program, words, { ...options, stdio: ["ignore", log, log] }));
  }
}

/** Returns Slurm's default configuration with the changes that four nodes on one host and the loopback need. */
function configuration(
  folder: string,
  cpus: number,
  [controller, ...nodes]: readonly number[],
): string {
  const node = (port: number, n: number): string =>
    `NodeName=node${n + 1} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${port} CPUs=${cpus} State=UNKNOWN`;
  return `ClusterName=bench
SlurmctldHost=${hostname()}(127.0.0.1)
SlurmctldPort=${controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=${folder}/munge.socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdParameters=config_overrides
StateSaveLocation=${folder}/state
SlurmdSpoolDir=${folder}/spool-%n
SlurmctldPidFile=${folder}/slurmctld.pid
SlurmdPidFile=${folder}/slurmd-%n.pid
SlurmctldLogFile=${folder}/slurmctld.log
SlurmdLogFile=${folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MaxArraySize=10001
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
${nodes.map(node).join("\n")}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), endMs);
  await exit;
  clearTimeout(timer);
}
