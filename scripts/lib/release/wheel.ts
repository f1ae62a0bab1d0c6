/** Builds the wheel of the Python package, whose bytes depend on the commit alone. */
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../root.ts";
import { makeVirtualEnvironment, pythonOf } from "../virtual-environment.ts";
import { pythonVersion } from "./notes.ts";

const call = promisify(execFile);
const environment = join(root, ".cache", "release-python");
/** The version is pinned: another version may order the files of a wheel differently. */
const setuptools = "setuptools==80.9.0";

export type WheelOptions = {
  readonly version: string;
  readonly stage: string;
  readonly out: string;
  /** The modification time of every file in the wheel, in seconds since 1970. */
  readonly committedAtS: number;
};

/** Writes the wheel into `out`. Returns its file name. */
export async function makeWheel(
  { version, stage, out, committedAtS }: WheelOptions,
  say: (line: string) => void,
): Promise<string> {
  if (!existsSync(pythonOf(environment))) {
    const problem = await makeVirtualEnvironment(environment, [[setuptools]], say);
    if (problem !== null) throw new Error(`setuptools cannot be installed: ${problem}`);
  }
  const folder = join(stage, "sdk-python");
  await cp(join(root, "libs", "sdk-python"), folder, {
    recursive: true,
    filter: (path) => !/__pycache__|\.pyc$|\/(tests|typings)$|egg-info/.test(path),
  });
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  writeFileSync(
    join(folder, "src", "trainyard", "_version.py"),
    `"""The package's version; pyproject.toml reads it from here."""\n\n__version__ = "${pythonVersion(version)}"\n`,
  );
  const build = [
    'import sys; sys.path.insert(0, "build_backend")',
    "import clean_build",
    `print("wheel:", clean_build.build_wheel(${JSON.stringify(out)}))`,
  ].join("\n");
  const { stdout } = await call(pythonOf(environment), ["-c", build], {
    cwd: folder,
    env: { ...process.env, SOURCE_DATE_EPOCH: String(committedAtS), PYTHONHASHSEED: "0" },
  });
  const name = /^wheel: (.+)$/m.exec(stdout)?.[1];
  if (name === undefined) throw new Error(`setuptools built no wheel:\n${stdout}`);
  return name;
}
