/** The marks of the search view, and the legend that explains those of a layout: pure. */
import type { SearchLayout } from "./layout.ts";

export type MarkColour = "accent" | "violet" | "amber" | "green" | "teal" | "muted" | "red";
export type Glyph = "line" | "dashes" | "cutoff" | "bar" | "cross" | "dot" | "ring";

export type Mark = { readonly glyph: Glyph; readonly colour: MarkColour; readonly text: string };

const mark = (glyph: Glyph, colour: MarkColour, text: string): Mark => ({ glyph, colour, text });

const unknown = mark("ring", "muted", "unknown state");

/** The end of a thread: a ring while the trial may continue. */
const endMarks: Readonly<Record<string, Mark>> = {
  running: mark("ring", "accent", "running"),
  suspended: mark("ring", "violet", "suspended"),
  stopping: mark("bar", "amber", "stopping"),
  completed: mark("dot", "green", "completed"),
  max_time: mark("dot", "green", "trained to the full length"),
  stopped_early: mark("bar", "teal", "stopped by the search"),
  canceled: mark("cross", "muted", "canceled"),
  failed: mark("cross", "red", "failed"),
  invalid: mark("cross", "red", "invalid hyperparameters"),
};

export const endMarkOf = (state: string): Mark => endMarks[state] ?? unknown;

/** A decision on a lane, by its verb. */
export function decisionMarkOf(verb: string): Mark {
  if (verb === "stopped") return mark("bar", "teal", "stopped by the search");
  if (verb === "failed") return mark("bar", "red", "failed by the search");
  return verb === "resumed"
    ? mark("bar", "violet", "compared, continues")
    : mark("bar", "violet", "suspended by the search");
}

/** Returns the marks that a layout has, each once, with the meanings of equal marks joined. */
export function legendOf({ threads, columns, lineage, marks }: SearchLayout): readonly Mark[] {
  const all = [
    mark("line", "muted", "training of a trial"),
    ...(columns.some(({ cutoffY }) => cutoffY !== null)
      ? [mark("cutoff", "teal", "cutoff: trials above it continue")]
      : []),
    ...(lineage.length > 0
      ? [mark("dashes", "violet", "starts from a checkpoint of another trial")]
      : []),
    ...marks.map(({ verb }) => decisionMarkOf(verb)),
    ...threads.map(({ state }) => endMarkOf(state)),
  ];
  const texts = new Map<string, Set<string>>();
  const first = new Map<string, Mark>();
  for (const one of all) {
    const key = `${one.glyph} ${one.colour}`;
    if (!first.has(key)) first.set(key, one);
    texts.set(key, (texts.get(key) ?? new Set()).add(one.text));
  }
  return [...first].map(([key, one]) => ({
    ...one,
    text: [...(texts.get(key) ?? [])].join(" or "),
  }));
}
