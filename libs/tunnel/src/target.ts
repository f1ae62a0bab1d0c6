/**
 * The end of a stream on an agent: the holder of a task, the task's own page, the agent's document about the task's
 * use, or a port of the run.
 */
export type Target =
  | { readonly kind: "holder" | "page" | "use" }
  | { readonly kind: "port"; readonly port: number };

/** The name of a target in requests: `holder`, `page`, `use` or `port-8080`. */
export const nameOfTarget = (target: Target): string =>
  target.kind === "port" ? `port-${target.port}` : target.kind;

/** Returns the target with a name; null for any other text. */
export function parseTarget(name: string): Target | null {
  if (name === "holder" || name === "page" || name === "use") return { kind: name };
  const port = Number(/^port-([1-9][0-9]{0,4})$/.exec(name)?.[1]);
  return port >= 1 && port <= 65_535 ? { kind: "port", port } : null;
}
