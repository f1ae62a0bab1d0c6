/**
 * The Python that runs Optuna: a virtual environment of the project in `.cache/`, created on first use with tested
 * versions of the packages. If these are unavailable, it uses any available versions, and otherwise an Optuna that the
 * machine's Python can import. The benchmark reports the version.
 */
import { join } from "node:path";
import { root } from "../../../scripts/lib/root.ts";
import {
  makeVirtualEnvironment,
  pythonImports,
  pythonOf,
} from "../../../scripts/lib/virtual-environment.ts";

const folder = join(root, ".cache", "bench-python");
/**
 * The tested versions. The Gaussian process sampler needs SciPy and PyTorch, and is three times slower without
 * greenlet.
 */
const tried = ["optuna==5.0.0", "scipy==1.17.1", "torch==2.13.0", "greenlet==3.5.6"];
/** The packages that are required; without the others, the comparison of Gaussian processes is left out. */
const needed = tried.slice(0, 1);

const withoutVersion = (packages: readonly string[]): string[] =>
  packages.map((name) => name.split("==")[0] ?? name);

/** Returns a Python that imports Optuna, or undefined. Unless it may create an environment, it uses an existing one. */
export async function pythonWithOptuna(
  say: (line: string) => void,
  mayMake: boolean,
): Promise<string | undefined> {
  const own = pythonOf(folder);
  if (await pythonImports(own, mayMake ? "optuna, scipy, torch, greenlet" : "optuna")) return own;
  if (mayMake && (await made(say))) return own;
  return (await pythonImports("python3", "optuna")) ? "python3" : undefined;
}

async function made(say: (line: string) => void): Promise<boolean> {
  say(`making a virtual environment with Optuna in ${folder}`);
  const wishes = [tried, withoutVersion(tried), needed, withoutVersion(needed)];
  return (await makeVirtualEnvironment(folder, wishes, say)) === null;
}
