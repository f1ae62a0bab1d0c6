/**
 * Returns whether a folder stays at or below the host folder: a relative path without climbing out, or an absolute path
 * below it.
 */
export function staysBelow(folder: string, host: string): boolean {
  const inside = resolved(folder);
  if (inside === null || !folder.startsWith("/")) return inside !== null;
  return `${inside}/`.startsWith(`${resolved(host)}/`.replace("//", "/"));
}

/** Returns the path without `.`, `..` and doubled slashes; null if it climbs above its start. */
function resolved(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined && !path.startsWith("/")) return null;
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}
