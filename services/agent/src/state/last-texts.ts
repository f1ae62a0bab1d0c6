/** The last lines that a run's processes have written, for the reason of an end. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { names } from "./layout.ts";
import { outputSource, segmentName, segmentsOf } from "./output-writer.ts";

/** Some lines of the usual length; a longer last line is left out. */
const readBytes = 64 * 1024;

/** Returns the texts of the last lines in order, without the agent's own; fewer if a long line is among them. */
export function lastTextsOf(runFolder: string, max: number): readonly string[] {
  const folder = join(runFolder, names.output);
  const last = segmentsOf(folder).at(-1);
  if (last === undefined) return [];
  const file = openSync(join(folder, segmentName(last)), "r");
  try {
    const from = Math.max(fstatSync(file).size - readBytes, 0);
    const bytes = Buffer.alloc(readBytes);
    const text = bytes.toString("utf8", 0, readSync(file, bytes, 0, readBytes, from));
    return text.split("\n").flatMap(textIn).slice(-max);
  } finally {
    closeSync(file);
  }
}

/** The first piece may begin, and the last one end, inside a line. */
function textIn(line: string): readonly string[] {
  try {
    const [source, , text] = JSON.parse(line) as readonly unknown[];
    return source === outputSource.agent || typeof text !== "string" ? [] : [text];
  } catch {
    return [];
  }
}
