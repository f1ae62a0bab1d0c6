import { isAbsolute, join } from "node:path";

/** The folder that the person stands in; npm runs scripts in the checkout. */
export function callerFolder(): string {
  return process.env["TRAINYARD_CALLER_DIR"] ?? process.cwd();
}

export function callerPath(path: string): string {
  return isAbsolute(path) ? path : join(callerFolder(), path);
}
