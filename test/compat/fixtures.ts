/**
 * Fixtures of stored text. `events/<type>.body` is the body of one event of each type, old types included, and
 * `events/<type>+2.body` a second one, with fields that a release added. `enums.json` lists the names that a body may
 * have for the values of an enum. A fixture of a release is never changed: a change makes stored events unreadable.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
const bodyEnd = ".body";

export type EventFixture = {
  /** The file's name without its ending. */
  readonly name: string;
  readonly type: string;
  readonly body: string;
};

export const eventFixtures: readonly EventFixture[] = readdirSync(join(folder, "events"))
  .filter((name) => name.endsWith(bodyEnd))
  .map((file) => {
    const name = file.slice(0, -bodyEnd.length);
    const body = readFileSync(join(folder, "events", file), "utf8").trimEnd();
    return { name, type: name.replace(/\+\d+$/, ""), body };
  });

/** The names of the values of each enum, in the order of the protocol. */
export const enumFixtures = JSON.parse(
  readFileSync(join(folder, "enums.json"), "utf8"),
) as Readonly<Record<string, readonly string[]>>;

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

/** The expected state of each stream of the history. */
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
