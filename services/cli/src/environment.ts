import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Returns the folder in which the user runs the command; npm itself runs scripts in the checkout. */
export function callerFolder(): string {
  return process.env["TRAINYARD_CALLER_DIR"] ?? process.cwd();
}

export function callerPath(path: string): string {
  return isAbsolute(path) ? path : join(callerFolder(), path);
}

/** Whether the shell finds programs of this folder. */
export function isInPath(folder: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).includes(folder);
}

/** The folder of the checkout's Python packages. */
export const pythonPackages = fileURLToPath(
  new URL("../../../libs/sdk-python/src", import.meta.url),
);

/** Returns the user's Python, and the environment in which it finds the checkout's packages. */
export function pythonOfPerson() {
  const env = { ...process.env, PYTHONPATH: pythonPackages, PYTHONDONTWRITEBYTECODE: "1" };
  return { python: process.env["TRAINYARD_PYTHON"] ?? "python3", env };
}

/** Returns the folder of the person's settings: $XDG_CONFIG_HOME, by default ~/.config. */
export function configFolder(): string {
  const named = process.env["XDG_CONFIG_HOME"] ?? "";
  return isAbsolute(named) ? named : join(homedir(), ".config");
}

/**
 * Returns what the environment says about the cluster: its address and token, the name of a login, the folder of an
 * embedded cluster. Each is undefined if it is not set.
 */
export function namedCluster() {
  const { TRAINYARD_URL: url, TRAINYARD_TOKEN: token } = process.env;
  const { TRAINYARD_CLUSTER: login, TRAINYARD_HOME: home } = process.env;
  return { url, token, login: login || undefined, home: home || undefined };
}

/** Returns the span that the command is under; undefined if the environment names none. */
export const namedTraceparent = (): string | undefined => process.env["TRACEPARENT"];
