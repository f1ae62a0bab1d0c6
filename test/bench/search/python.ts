/**
 * The Python that Optuna is run under: a virtual environment of the project's own in `.cache/`, made when first needed
 * from packages by name, in versions that were tried; where these are not available, in any version that is; else
 * whatever Optuna the machine's own Python imports. The benchmark says which version it compares with.
 */
import { join } from "node:path";
import { root } from "../../../scripts/lib/root.ts";
import {
  makeVirtualEnvironment,
  pythonImports,
  pythonOf,
} from "../../../scripts/lib/virtual-environment.ts";

const folder = join(root, ".cache", "bench-python");
/** Its Gaussian process needs SciPy and PyTorch, and is three times slower where greenlet is missing. */
const tried = ["optuna==5.0.0", "scipy==1.17.1", "torch==2.13.0", "greenlet==3.5.6"];
/** Without the Gaussian process that comparison is left out. */
const needed = tried.slice(0, 1);

const withoutVersion = (packages: readonly string[]): string[] =>
  packages.map((name) => name.split("==")[0] ?? name);

/** A Python that imports Optuna, or undefined. Unless it may make one, it takes what is there. */
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
