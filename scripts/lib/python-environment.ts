/**
 * The Python environment of tests, examples and benchmarks that need PyTorch: a virtual environment in `.cache/python`
 * with pinned packages. `npm test` makes it where it can.
 *
 * `TRAINYARD_PYTHON` names another Python to use instead. `TRAINYARD_REQUIRE=torch` makes a missing environment an
 * error; by default the tests that need it are skipped.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./root.ts";
import { makeVirtualEnvironment, pythonImports, pythonOf } from "./virtual-environment.ts";

const folder = join(root, ".cache", "python");
/** The stamp is written last. A missing stamp means an unfinished environment, a different list other packages. */
const stamp = join(folder, "packages.txt");
const packages = [
  "torch==2.13.0",
  "numpy==2.4.6",
  "transformers==5.18.0",
  "lightning==2.6.6",
  "accelerate==1.15.0",
  "tensorboard==2.21.0",
  "pandas==3.0.6",
];
const stampText = `${packages.join("\n")}\n`;

export type PythonEnvironment =
  | { readonly python: string; readonly bin: string }
  | { readonly python: null; readonly why: string };

/** Returns the environment in its current state, without making it. */
export function pythonEnvironment(): PythonEnvironment {
  const named = process.env["TRAINYARD_PYTHON"];
  if (named !== undefined && named !== "") return { python: named, bin: dirname(named) };
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === stampText) {
    return { python: pythonOf(folder), bin: join(folder, "bin") };
  }
  return { python: null, why: "PyTorch is not in .cache/python, which npm test makes with pip" };
}

/** Returns the environment; makes it first if it is missing or has other packages. */
export async function makePythonEnvironment(
  say: (line: string) => void,
): Promise<PythonEnvironment> {
  const found = pythonEnvironment();
  if (found.python !== null) return found;
  say("making a virtual environment with PyTorch in .cache/python (once; a minute or two) …");
  const problem = await makeVirtualEnvironment(folder, [packages], say);
  if (problem !== null) return { python: null, why: `PyTorch cannot be installed: ${problem}` };
  if (!(await pythonImports(pythonOf(folder), "torch, numpy"))) {
    return { python: null, why: "PyTorch was installed into .cache/python and cannot be imported" };
  }
  writeFileSync(stamp, stampText);
  return pythonEnvironment();
}
