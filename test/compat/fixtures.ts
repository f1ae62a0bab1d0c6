/**
 * What was recorded once and is read for ever. `events/<type>.body` is the stored text of one event of each type, old
 * types included. A fixture is never edited: whoever has to is about to make stored events unreadable.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
const bodyEnd = ".body";

export type EventFixture = { readonly type: string; readonly body: string };

export const eventFixtures: readonly EventFixture[] = readdirSync(join(folder, "events"))
  .filter((name) => name.endsWith(bodyEnd))
  .map((name) => ({
    type: name.slice(0, -bodyEnd.length),
    body: readFileSync(join(folder, "events", name), "utf8").trimEnd(),
  }));

export type HistoryLine = { readonly stream: string; readonly type: string; readonly body: string };

/** The events of a recorded history, in the order of the log. */
export function readHistory(name: string): readonly HistoryLine[] {
  const lines = readFileSync(join(folder, "histories", `${name}.ndjson`), "utf8").trimEnd();
  return lines.split("\n").map((line) => {
    const { stream, type, body } = JSON.parse(line) as Omit<HistoryLine, "body"> & {
      readonly body: unknown;
    };
    return { stream, type, body: JSON.stringify(body) };
  });
}

/** The states that its streams were in, by stream. */
export function readStates(name: string): Readonly<Record<string, unknown>> {
  const text = readFileSync(join(folder, "histories", `${name}.states.json`), "utf8");
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

export function historyNames(): readonly string[] {
  const end = ".ndjson";
  return readdirSync(join(folder, "histories"))
    .filter((name) => name.endsWith(end))
    .map((name) => name.slice(0, -end.length));
}
