/** Compares what a reader got with the log. */
import type { Entry } from "./consumers/journal.ts";
import type { Reader } from "./reader.ts";

type Event = Pick<Entry, "sequence" | "id" | "stream">;

export type Truth = {
  /** All events of the log in their order. Later ones are not looked at. */
  readonly all: readonly Event[];
  /** The events that the subscriptions select. */
  readonly selected: readonly Event[];
};

/**
 * Returns a sentence for each violation: a lost event, a strange one, or one that is out of order once repeats of its
 * id are left out. The order is that of the log; for Kafka that of each stream, without any repeat; for a webhook none.
 */
export function violationsOf(
  name: string,
  kind: Reader["kind"],
  read: readonly Pick<Entry, "sequence" | "id">[],
  truth: Truth,
): readonly string[] {
  const head = truth.all.at(-1)?.sequence ?? 0;
  const entries = read.filter(({ sequence }) => sequence <= head);
  const wanted = kind === "kafka" ? truth.all : truth.selected;
  const known = new Map(wanted.map((event) => [event.id, event]));
  const first = [...new Map(entries.toReversed().map((one) => [one.id, one])).values()];
  const got = first.toReversed();
  const gotIds = new Set(got.map(({ id }) => id));
  const lost = wanted.filter(({ id }) => !gotIds.has(id));
  const strange = got.filter(({ id, sequence }) => known.get(id)?.sequence !== sequence);
  const streamOf = ({ id }: { readonly id: string }): string =>
    kind === "kafka" ? (known.get(id)?.stream ?? "") : "";
  const last = new Map<string, number>();
  const late = got.filter((one) => {
    const before = last.get(streamOf(one)) ?? 0;
    last.set(streamOf(one), Math.max(before, one.sequence));
    return one.sequence < before;
  });
  const repeats = kind === "kafka" ? entries.length - got.length : 0;
  return [
    ...sentence(name, "lost", lost),
    ...sentence(name, "got from elsewhere", strange),
    ...(kind === "webhook" ? [] : sentence(name, "got out of order", late)),
    ...(repeats === 0 ? [] : [`${name} dealt twice with ${repeats} events`]),
  ];
}

function sentence(
  name: string,
  what: string,
  events: readonly { readonly sequence: number }[],
): readonly string[] {
  if (events.length === 0) return [];
  const some = events.slice(0, 5).map(({ sequence }) => sequence);
  return [`${name} ${what} ${events.length} events, at ${some.join(", ")}`];
}
