/** The meaning of a text in the field "Add": sources, or a filter of experiments. */
import { isSource } from "./sources.ts";

/** The trials that are added of an experiment. */
export type Which = "best" | "all";

export type Added =
  | { readonly kind: "sources"; readonly sources: readonly string[] }
  | { readonly kind: "filter"; readonly filter: string };

/** Ids of experiments stand for their trials: 12 is 12.best or 12.all. A text with anything else is a filter. */
export function readAdded(text: string, which: Which): Added {
  const parts = text.split(/[\s,~]+/).filter((part) => part !== "");
  const sources = parts.map((part) => (/^[1-9]\d{0,7}$/.test(part) ? `${part}.${which}` : part));
  return sources.length > 0 && sources.every(isSource)
    ? { kind: "sources", sources }
    : { kind: "filter", filter: text.trim() };
}
