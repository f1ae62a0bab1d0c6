/** Where the agent finds the Python that runs its own programs. */
import { existsSync } from "node:fs";

/** The system's own before what the PATH has: that may be a shim, which is slow, or an environment of the user's. */
const pythons = ["/usr/bin/python3", "python3"];

/** The words that start one of our Python programs, without anything of the user's Python. */
export function pythonIn(program: string): readonly string[] {
  return [python(), "-I", "-S", "-E", program];
}

export function python(): string {
  return pythons.find((path) => !path.startsWith("/") || existsSync(path)) ?? "python3";
}

/** The Python that has the package trainyard: any where its folder is known, else the one of the PATH, as for runs. */
export function pythonWithSdk(sdkPath: string | null): string {
  return sdkPath === null ? "python3" : python();
}
