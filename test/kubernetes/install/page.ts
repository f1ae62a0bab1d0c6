/** The commands of docs/operate/kubernetes.md, which a test runs in their order. */
import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { checkout } from "@trainyard/local-cluster";

export type Said = { readonly code: number; readonly out: string; readonly err: string };

export type Running = {
  /** The output so far. */
  said(): string;
  readonly ended: Promise<Said>;
};

const text = readFileSync(join(checkout, "docs/operate/kubernetes.md"), "utf8");
const blocks = [...text.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indent = "", body = ""]) =>
  body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
);

/** The surroundings of a block: npm in the checkout, and the variables that blocks before it have exported. */
const prelude = `set -eu
npm() { (cd "$CHECKOUT" && command npm "$@"); }
if [ -e exported ]; then . ./exported; fi
`;
const ending = "\nexport -p | grep ' TRAINYARD_' > exported || :\n";

export class Page {
  readonly #folder: string;
  readonly #kubeconfig: string;
  #next = 0;

  /** The commands run in the folder, which has `deploy` as the checkout has it. */
  constructor(folder: string, kubeconfig: string) {
    this.#folder = folder;
    this.#kubeconfig = kubeconfig;
    symlinkSync(join(checkout, "deploy"), join(folder, "deploy"));
  }

  /** Returns the next block, which has to begin with these words. */
  next(words: string): string {
    const block = blocks[this.#next] ?? "";
    if (!block.startsWith(words)) {
      throw new Error(`the page has, in place of ${JSON.stringify(words)}: ${block}`);
    }
    this.#next += 1;
    return block;
  }

  /** The blocks that were not asked for. */
  get rest(): readonly string[] {
    return blocks.slice(this.#next);
  }

  start(commands: string): Running {
    const child = spawn("bash", ["-c", `${prelude}${commands}${ending}`], {
      cwd: this.#folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: `${join(checkout, "bin")}:${process.env["PATH"]}`,
        HOME: this.#folder,
        KUBECONFIG: this.#kubeconfig,
        CHECKOUT: checkout,
        TY_TEST_RUN: process.env["TY_TEST_RUN"],
      },
    });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
    const ended = new Promise<Said>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code: code ?? 128, out, err }));
    });
    return { said: () => out, ended };
  }

  run(commands: string): Promise<Said> {
    return this.start(commands).ended;
  }

  /** Runs commands that must succeed. Returns what they print. */
  async works(commands: string): Promise<string> {
    const { code, out, err } = await this.run(commands);
    if (code !== 0) throw new Error(`${commands} ended with ${code}: ${out}${err}`);
    return out;
  }
}
