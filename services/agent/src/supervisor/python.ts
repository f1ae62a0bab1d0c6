/** Finds the Python that runs the agent's own programs. */
import { existsSync } from "node:fs";

/** The system's Python comes first: the one on the PATH may be a slow shim, or a user's environment. */
const pythons = ["/usr/bin/python3", "python3"];

/** The arguments that start one of the agent's Python programs, without the user's Python settings. */
export function pythonIn(program: string): readonly string[] {
  return [python(), "-I", "-S", "-E", program];
}

export function python(): string {
  return pythons.find((path) => !path.startsWith("/") || existsSync(path)) ?? "python3";
}

/**
 * The Python for the package trainyard: any Python if the package's folder is known, else the one on the PATH, as for
 * runs.
 */
export function pythonWithSdk(sdkPath: string | null): string {
  return sdkPath === null ? "python3" : python();
}
