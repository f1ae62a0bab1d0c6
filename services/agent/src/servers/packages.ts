/**
 * The package folders of this host: JupyterLab and TensorBoard for tasks whose Python has none. A folder belongs to one
 * lock file, which names each wheel by its digest, and so to one Python. It is built once, by the agent's user, when a
 * run first needs it, and gets its name when it is complete: tasks read it and cannot write it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { makeFolder } from "../state/layout.ts";
import type { PageKind } from "./kinds.ts";

const locks = join(import.meta.dirname, "locks");

/** The names by which people know the servers. */
export const serverNames: Readonly<Record<PageKind, string>> = {
  notebook: "JupyterLab",
  tensorboard: "TensorBoard",
};

/** The reason why a folder could not be built, as a sentence. */
export class NoPackages extends Error {
  override readonly name = "NoPackages";
}

type Lock = { readonly file: string; readonly packages: number; readonly folder: string };

/** Returns the folders for a kind by the Pythons that they are for: cp311-x86-64. A folder may not exist yet. */
export function packageFolders(root: string, kind: PageKind): Readonly<Record<string, string>> {
  const found = readdirSync(locks).flatMap((name) => {
    const python = /^([a-z]+)-(.+)\.txt$/.exec(name);
    return python?.[1] === kind ? [python[2] ?? ""] : [];
  });
  return Object.fromEntries(found.map((python) => [python, lockOf(root, kind, python).folder]));
}

function lockOf(root: string, kind: PageKind, python: string): Lock {
  const file = join(locks, `${kind}-${python}.txt`);
  const text = readFileSync(file, "utf8");
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const folder = join(root, `${kind}-${python}-${digest}`);
  return { file, packages: text.trim().split("\n").length, folder };
}

export type BuildStep = (ready: number, of: number) => void;

export type Variables = Readonly<Record<string, string>>;

export class Packages implements Disposable {
  readonly #root: string;
  readonly #variables: Variables;
  readonly #builds = new Map<string, Promise<void>>();
  readonly #children = new Set<ChildProcess>();

  /** `variables` are the agent's own, with its settings of pip. */
  constructor(root: string, variables: Variables) {
    this.#root = makeFolder(root);
    chmodSync(root, 0o755);
    this.#variables = variables;
  }

  /** Builds a folder unless it exists; several runs wait for one build. Throws NoPackages. */
  async build(kind: PageKind, python: string, onStep: BuildStep): Promise<void> {
    const lock = lockOf(this.#root, kind, python);
    if (existsSync(lock.folder)) return;
    const running = this.#builds.get(lock.folder);
    const build = running ?? this.#build(lock, kind, python, onStep);
    this.#builds.set(lock.folder, build);
    await build.finally(() => this.#builds.delete(lock.folder));
  }

  /** The builds end with the agent, and the next agent begins them again. */
  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }

  async #build(lock: Lock, kind: PageKind, python: string, onStep: BuildStep): Promise<void> {
    const name = serverNames[kind];
    const program = await this.#pythonFor(python);
    if (program === null) {
      const detail = `it needs pip in a Python for ${python} on its host`;
      throw new NoPackages(`the agent cannot install ${name}: ${detail}`);
    }
    const draft = `${lock.folder}.new`;
    await rm(draft, { recursive: true, force: true });
    let collected = 0;
    const problem = await this.#run([...program, ...pipArguments(lock.file, draft)], (line) => {
      if (!line.startsWith("Collecting ")) return;
      collected += 1;
      onStep(collected, lock.packages);
    });
    if (problem !== null) {
      await rm(draft, { recursive: true, force: true });
      const detail = `it has no network, or its pip refuses the packages (${problem})`;
      throw new NoPackages(`the agent could not install ${name}: ${detail}`);
    }
    // The users of runs read the files, whatever the umask of the agent is.
    await this.#run(["chmod", "-R", "a+rX,go-w", draft], () => {});
    renameSync(draft, lock.folder);
  }

  /** Returns a program of this host that is such a Python and has pip. */
  async #pythonFor(python: string): Promise<readonly string[] | null> {
    const version = /^cp(\d)(\d+)-/.exec(python);
    const named = `python${version?.[1]}.${version?.[2]}`;
    for (const program of ["/usr/bin/python3", "python3", named]) {
      const command = [
        program,
        "-I",
        "-c",
        `${tagProgram}\nassert tag == ${JSON.stringify(python)}`,
      ];
      if ((await this.#run(command, () => {})) === null) return [program, "-I"];
    }
    return null;
  }

  /** Returns null if the program ended well, else the last line that names an error. */
  async #run(command: readonly string[], onLine: (line: string) => void): Promise<string | null> {
    const [program = "", ...parameters] = command;
    const env = { ...this.#variables, PYTHONDONTWRITEBYTECODE: "", PIP_NO_INPUT: "1" };
    const child = spawn(program, parameters, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#children.add(child);
    let problem = "";
    createInterface({ input: child.stdout }).on("line", onLine);
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (/error/i.test(line) || problem === "") problem = line.trim();
    });
    try {
      const [code] = (await once(child, "close")) as [number | null];
      return code === 0 ? null : problem || `it ended with ${code}`;
    } catch (error) {
      return (error as Error).message;
    } finally {
      this.#children.delete(child);
    }
  }
}

/** The name of a Python in the names of lock files, and a failure where it has no pip. */
const tagProgram = `import pip, platform, sys
tag = "cp%d%d-%s" % (*sys.version_info[:2], platform.machine().replace("_", "-"))`;

function pipArguments(lock: string, folder: string): readonly string[] {
  const wheels = ["--require-hashes", "--only-binary", ":all:", "--no-deps"];
  const quick = ["--no-cache-dir", "--disable-pip-version-check", "--retries", "1"];
  return ["-m", "pip", "install", ...wheels, ...quick, "--target", folder, "--requirement", lock];
}
