/** A sentence in which the numbers of an experiment's trials are links: "trial 3.1: run 1: out of memory". */
export type SentencePart = { readonly text: string; readonly trial?: string };

/** Returns the parts in order; `trial` is set only for trials of this experiment. */
export function partsOf(sentence: string, experiment: string): readonly SentencePart[] {
  const parts: SentencePart[] = [];
  let end = 0;
  for (const { 0: text, 1: trial = "", index } of sentence.matchAll(
    /\btrial (\d+\.\d+)(?![\d.]*\d)/gi,
  )) {
    if (!trial.startsWith(`${experiment}.`)) continue;
    if (index > end) parts.push({ text: sentence.slice(end, index) });
    parts.push({ text, trial });
    end = index + text.length;
  }
  if (end < sentence.length) parts.push({ text: sentence.slice(end) });
  return parts;
}
