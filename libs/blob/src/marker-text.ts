/**
 * The text of a storage's marker. The first line is the storage's id. The next lines name the log whose checkpoints the
 * storage has, and a witness: a late event of that log. A marker that an SDK or agent made has no such lines, because
 * they do not know the log. The rest explains the marker to people.
 */

/** The name of the marker: a file in a directory, an object in a bucket. */
export const storageMarkerName = ".trainyard-storage";

/** An event of a log. A log that has an event with this id at this position also has all events before it. */
export type LogEvent = { readonly position: number; readonly id: string };

/** The log is named by the id of its first event. */
export type StorageOwner = { readonly log: string; readonly witness: LogEvent };

export type StorageMark = { readonly id: string; readonly owner?: StorageOwner };

/** The state of a root's marker on this host. */
export type SeenStorage =
  | ({ readonly kind: "marked" } & StorageMark)
  | { readonly kind: "unmarked" }
  | { readonly kind: "damaged" }
  | { readonly kind: "unreadable"; readonly detail: string };

/** The number of bytes of a marker that are read at most. */
export const markerBytesMax = 4_096;

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const explanation = `# Trainyard knows this storage of checkpoints by the first line, and the cluster that it belongs to by the log and the
# witness, a late event of that log. Leave this file where it is: without it no checkpoint here is verified or deleted.
# Where it was lost, "yard storage adopt" writes it again.
`;

export function isStorageId(text: string): boolean {
  return idPattern.test(text);
}

export function markerText({ id, owner }: StorageMark): string {
  if (owner === undefined) return `${id}\n${explanation}`;
  const { log, witness } = owner;
  return `${id}\nlog ${log}\nwitness ${witness.position} ${witness.id}\n${explanation}`;
}

/** Reads a marker's text. A marker that names a log without a witness is damaged. */
export function readMarkerText(text: string): SeenStorage {
  const [id = "", ...lines] = text.split("\n");
  if (!isStorageId(id)) return { kind: "damaged" };
  const log = valueOf(lines, "log");
  const witness = valueOf(lines, "witness");
  if (log === undefined && witness === undefined) return { kind: "marked", id };
  const [position = "", event = ""] = (witness ?? "").split(" ");
  const isWhole = isStorageId(log ?? "") && /^[1-9]\d{0,15}$/.test(position) && isStorageId(event);
  if (log === undefined || !isWhole) return { kind: "damaged" };
  return { kind: "marked", id, owner: { log, witness: { position: Number(position), id: event } } };
}

function valueOf(lines: readonly string[], name: string): string | undefined {
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
}
