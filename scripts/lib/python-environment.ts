/**
 * The Python that tests, examples and benchmarks with PyTorch run under: a virtual environment of the project's own in
 * `.cache/python`, which `npm test` makes where it can, from packages in pinned versions. `TRAINYARD_PYTHON` names
 * another Python to use in its place. `TRAINYARD_REQUIRE=torch` makes its absence an error; else what needs it is
 * skipped.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./root.ts";
import { makeVirtualEnvironment, pythonImports, pythonOf } from "./virtual-environment.ts";

const folder = join(root, ".cache", "python");
/** Written last: an environment without it was never finished, one with another list is of other packages. */
const stamp = join(folder, "packages.txt");
const packages = [
  "torch==2.13.0",
  "numpy==2.4.6",
  "transformers==5.18.0",
  "lightning==2.6.6",
  "accelerate==1.15.0",
  "tensorboard==2.21.0",
];
const stampText = `${packages.join("\n")}\n`;

export type PythonEnvironment =
  | { readonly python: string; readonly bin: string }
  | { readonly python: null; readonly why: string };

/** The environment as it is, at once. */
export function pythonEnvironment(): PythonEnvironment {
  const named = process.env["TRAINYARD_PYTHON"];
  if (named !== undefined && named !== "") return { python: named, bin: dirname(named) };
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === stampText) {
    return { python: pythonOf(folder), bin: join(folder, "bin") };
  }
  return { python: null, why: "PyTorch is not in .cache/python, which npm test makes with pip" };
}

export const torchRequired = (): boolean =>
  (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("torch");

/** The environment, made first where it is not there or of other packages. */
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
