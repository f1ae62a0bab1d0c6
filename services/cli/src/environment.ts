import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder that the user calls the command in; npm runs scripts in the checkout. */
export function callerFolder(): string {
  return process.env["TRAINYARD_CALLER_DIR"] ?? process.cwd();
}

export function callerPath(path: string): string {
  return isAbsolute(path) ? path : join(callerFolder(), path);
}

/** Where the Python package of the checkout is. */
export const pythonPackages = fileURLToPath(
  new URL("../../../libs/sdk-python/src", import.meta.url),
);

/** The user's Python, and the environment in which it finds that package. */
export function pythonOfPerson() {
  const env = { ...process.env, PYTHONPATH: pythonPackages, PYTHONDONTWRITEBYTECODE: "1" };
  return { python: process.env["TRAINYARD_PYTHON"] ?? "python3", env };
}

/** The cluster that the person names, as far as they do. */
export function namedCluster(): { readonly url?: string; readonly token?: string } {
  const { TRAINYARD_URL: url, TRAINYARD_TOKEN: token } = process.env;
  return { ...(url === undefined ? {} : { url }), ...(token === undefined ? {} : { token }) };
}
