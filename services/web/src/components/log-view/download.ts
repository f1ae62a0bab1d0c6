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

/** Saves content as a file on the user's computer. */
export function saveAs(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the object URL after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
