import type { LogSource } from "./source.ts";

/** Returns all current lines of a source as text, read page by page. Calls back with the number of lines so far. */
export async function textOfLog(
  source: LogSource,
  onProgress: (lines: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const parts: string[] = [];
  let lines = 0;
  for (let after: string | null = ""; after !== null; ) {
    const page = await source.read({ after }, signal);
    parts.push(page.lines.map(({ text }) => `${text}\n`).join(""));
    lines += page.lines.length;
    onProgress(lines);
    after = page.next;
  }
  return new Blob(parts, { type: "text/plain" });
}
