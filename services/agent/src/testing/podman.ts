/**
 * A Podman of a test's own: its service on a socket in a new folder, with storage of its own, so that a test neither
 * sees nor changes a container or image of this host. It is Debian's, with runc (crun does not run on every host) and
 * limits that need no privilege (docs/howto/use-containers.md).
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { absent, missingPrograms, notRun } from "@trainyard/testing/needs";
import { engineAt, inTime } from "../runtime/engine.ts";
import { markOfRun } from "./agent-config.ts";
import { newFolder } from "./examples.ts";
import { imageTar } from "./image.ts";

export const testImage = "localhost/trainyard-test:1";

const upMs = 90_000;

/** Containers get the mark of the test run, which they do not inherit from Podman. */
const settings = (): string => `[containers]
env = ${JSON.stringify(Object.entries(markOfRun()).map((pair) => pair.join("=")))}
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;

/**
 * The reason why no container can run on this host; null if Podman can. With TRAINYARD_REQUIRE=podman a missing Podman
 * is an error.
 */
export function podmanProblem(): string | null {
  const missing = missingPrograms("podman", "runc", "catatonit", "mkfifo");
  const isRoot = process.getuid?.() === 0;
  if (missing.length === 0 && isRoot) return null;
  const why = isRoot ? missing.join(", ") : "root, who may run containers of a test";
  return absent("podman", why);
}

/** Skips a test if Podman is missing; it is the test's first line. */
export function needPodman(skip: (note: string) => never): void {
  const problem = podmanProblem();
  if (problem !== null) notRun(skip, problem);
}

export class Podman implements AsyncDisposable {
  readonly socket: string;
  readonly #folder: string;
  #service: ChildProcess | null = null;

  private constructor(folder: string, registry: string) {
    this.#folder = folder;
    this.socket = join(folder, "podman.sock");
    writeFileSync(join(folder, "containers.conf"), settings());
    const plain =
      registry === "" ? "" : `[[registry]]\nlocation = "${registry}"\ninsecure = true\n`;
    writeFileSync(join(folder, "registries.conf"), plain);
    for (const name of ["root", "runroot", "tmp"]) mkdirSync(join(folder, name));
  }

  /** Starts Podman with an image from the tar, or from this host's programs; `registry` is a registry without TLS. */
  static async start(tar: string | null = null, registry = ""): Promise<Podman> {
    const folder = newFolder();
    const podman = new Podman(folder, registry);
    podman.run("import", tar ?? (await imageTar()), testImage);
    await podman.up();
    return podman;
  }

  /** Starts the service, and waits until it answers. */
  async up(): Promise<void> {
    this.#service = spawn(
      "podman",
      [...this.#places, "system", "service", "--time=0", `unix://${this.socket}`],
      // Podman's conmon leaves a file `oom` in the folder that it was started in.
      { cwd: this.#folder, env: this.#environment, stdio: "ignore" },
    );
    const deadlineMs = performance.now() + upMs;
    while (!(await this.#answers())) {
      if (performance.now() > deadlineMs) throw new Error("podman's service did not start");
      await after(50);
    }
  }

  /** Stops the service; its containers continue to run. */
  async down(): Promise<void> {
    const service = this.#service;
    this.#service = null;
    if (service === null || service.exitCode !== null) return;
    const gone = new Promise((resolve) => service.once("exit", resolve));
    service.kill("SIGKILL");
    await gone;
  }

  /** Returns the output of Podman's command line. Throws when it fails. */
  run(...argv: readonly string[]): string {
    return execFileSync("podman", [...this.#places, ...argv], {
      env: this.#environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** The variables with which deploy/images/training/build uses this storage. */
  get forBuilds(): NodeJS.ProcessEnv {
    const [root = "", runroot = ""] = this.#places;
    return { ...this.#environment, TRAINYARD_STORAGE_OPTIONS: `${root} ${runroot}` };
  }

  /** The names of all existing containers. */
  containers(): readonly string[] {
    const said = this.run("ps", "--all", "--format", "{{.Names}}").trim();
    return said === "" ? [] : said.split("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
    this.run("rm", "--all", "--force", "--time=0");
    // Mounts of the storage would prevent the removal of its folder.
    spawnSync("umount", ["-R", join(this.#folder, "root", "overlay")]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #places(): readonly string[] {
    const at = (name: string): string => join(this.#folder, name);
    return [`--root=${at("root")}`, `--runroot=${at("runroot")}`, `--tmpdir=${at("tmp")}`];
  }

  get #environment(): NodeJS.ProcessEnv {
    const at = (name: string): string => join(this.#folder, name);
    return {
      ...process.env,
      CONTAINERS_CONF: at("containers.conf"),
      CONTAINERS_REGISTRIES_CONF: at("registries.conf"),
    };
  }

  async #answers(): Promise<boolean> {
    if (!existsSync(this.socket)) return false;
    return await inTime(engineAt(this.socket).ping(), 1_000).then(
      () => true,
      () => false,
    );
  }
}
