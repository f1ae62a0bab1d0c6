/**
 * Links to a comparison. Its sources are trials (12.3, 12.1-3.7), the best of an experiment (12.best, 12.best5) or all
 * of it (12.all). A link joins them by `~`.
 */

import { limits } from "@trainyard/kernel";

export const comparedMax = limits.comparedTrialsMax;

export function compareLink(sources: readonly string[]): string {
  return sources.length === 0 ? "/compare" : `/compare?of=${sourcesText(sourcesOf(sources))}`;
}

/** A lone trial has a `~` behind it: the router would read 12.10 as the number 12.1. */
export function sourcesText(sources: readonly string[]): string {
  const text = sources.join("~");
  return sources.length === 1 ? `${text}~` : text;
}

/** Writes trials as few sources, in their order: 12.1, 12.2, 12.3 and 12.7 are 12.1-3.7. Other sources stay. */
export function sourcesOf(sources: readonly string[]): readonly string[] {
  const written: { experiment: string; parts: string[]; last: number }[] = [];
  for (const source of sources) {
    const [, experiment = "", text = ""] = /^([^.]*)\.(.*)$/.exec(source) ?? [];
    const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
    const before = written.at(-1);
    // The server reads a source in ascending order.
    if (before?.experiment !== experiment || !(number > before.last)) {
      written.push({ experiment, parts: [text], last: number });
    } else if (number === before.last + 1) {
      const [from = ""] = before.parts.at(-1)?.split("-") ?? [];
      before.parts.splice(-1, 1, `${from}-${number}`);
      before.last = number;
    } else {
      before.parts.push(text);
      before.last = number;
    }
  }
  return written.map(({ experiment, parts }) => `${experiment}.${parts.join(".")}`);
}
