/**
 * The Python that Optuna is run under: a virtual environment of the project's own in `.cache/`, made when first needed from
 * packages by name, in versions that were tried; where these are not to be had, in any version that is; else whatever
 * Optuna the machine's own Python imports. The benchmark says which version it compares with.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const folder = join(import.meta.dirname, "../../../.cache/bench-python");
/** Its Gaussian process needs SciPy and PyTorch, and is three times slower where greenlet is missing. */
const tried = ["optuna==5.0.0", "scipy==1.17.1", "torch==2.13.0", "greenlet==3.5.6"];
/** Without the Gaussian process that comparison is left out. */
const needed = tried.slice(0, 1);
const installMs = 600_000;

const call = promisify(execFile);

const withoutVersion = (packages: readonly string[]): string[] =>
  packages.map((name) => name.split("==")[0] ?? name);

/** A Python that imports Optuna, or undefined. Unless it may make one, it takes what is there. */
export async function pythonWithOptuna(
  say: (line: string) => void,
  mayMake: boolean,
): Promise<string | undefined> {
  const own = join(folder, "bin/python");
  if (await imports(own, mayMake ? "optuna, scipy, torch, greenlet" : "optuna")) return own;
  if (mayMake && (await made(own, say))) return own;
  return (await imports("python3", "optuna")) ? "python3" : undefined;
}

async function made(own: string, say: (line: string) => void): Promise<boolean> {
  say(`making a virtual environment with Optuna in ${folder}`);
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await call("python3", ["-m", "venv", folder]);
    const wishes = [tried, withoutVersion(tried), needed, withoutVersion(needed)];
    for (const packages of wishes) {
      const problem = await installed(own, packages);
      if (problem === undefined) return true;
      say(`  pip install ${packages.join(" ")}: ${problem}`);
    }
  } catch (error) {
    say(`  ${lastLine(error)}`);
  }
  return false;
}

async function imports(python: string, modules: string): Promise<boolean> {
  try {
    await call(python, ["-c", `import ${modules}`]);
    return true;
  } catch {
    // It is not there, or lacks one of them.
    return false;
  }
}

/** Installs the packages; gives what was wrong. */
async function installed(python: string, packages: readonly string[]): Promise<string | undefined> {
  try {
    const env = { ...process.env, PIP_RETRIES: "0", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
    await call(python, ["-m", "pip", "install", "--quiet", ...packages], {
      env,
      timeout: installMs,
    });
    return undefined;
  } catch (error) {
    return lastLine(error);
  }
}

function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1) ?? "";
}
