/**
 * Virtual environments of Python below `.cache/`, filled by pip with the machine's settings. Each install is tried
 * once: a registry that refuses or does not answer is not asked again.
 */
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const installMs = 600_000;
const call = promisify(execFile);

export const pythonOf = (folder: string): string => join(folder, "bin", "python");

/**
 * Recreates the environment with the first of the package lists that pip can install. Returns null, or the problem.
 */
export async function makeVirtualEnvironment(
  folder: string,
  wishes: readonly (readonly string[])[],
  say: (line: string) => void,
): Promise<string | null> {
  let problem = "no packages were asked for";
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await call("python3", ["-m", "venv", folder]);
  } catch (error) {
    return lastLine(error);
  }
  for (const packages of wishes) {
    const wrong = await install(pythonOf(folder), packages);
    if (wrong === null) return null;
    problem = `pip install ${packages.join(" ")}: ${wrong}`;
    if (wishes.length > 1) say(`  ${problem}`);
  }
  return problem;
}

/** Reports whether a Python can import all of the modules, written as in an import statement. */
export async function pythonImports(python: string, modules: string): Promise<boolean> {
  try {
    await call(python, ["-c", `import ${modules}`]);
    return true;
  } catch {
    // The Python is missing, or lacks one of the modules.
    return false;
  }
}

async function install(python: string, packages: readonly string[]): Promise<string | null> {
  try {
    const env = { ...process.env, PIP_RETRIES: "0", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
    await call(python, ["-m", "pip", "install", "--quiet", ...packages], {
      env,
      timeout: installMs,
    });
    return null;
  } catch (error) {
    return lastLine(error);
  }
}

function lastLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1) ?? "";
}
