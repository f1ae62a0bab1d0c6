/** Whether a folder is the other or is below it: a relative one that does not climb out, or an absolute one. */
export function staysBelow(folder: string, host: string): boolean {
  const inside = resolved(folder);
  if (inside === null || !folder.startsWith("/")) return inside !== null;
  return `${inside}/`.startsWith(`${resolved(host)}/`.replace("//", "/"));
}

/** The path without `.`, `..` and doubled slashes; null when it climbs above where it starts. */
function resolved(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined && !path.startsWith("/")) return null;
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}
