/**
 * The sources of a comparison, in the grammar of CompareTrials: a trial (12.3), some trials (12.1-3.7), the best of an
 * experiment (12.best, 12.best5) or all of it (12.all). A link joins them by `~`.
 */

import { comparedMax, sourcesOf } from "../../components/compare-link.ts";

/** Ids of eight digits are more than a cluster reaches, and keep a link with a hundred of them below its maximum. */
const sourceForm =
  /^[1-9]\d{0,7}\.(all|best([1-9]\d?|100)?|[1-9]\d*(-[1-9]\d*)?(\.[1-9]\d*(-[1-9]\d*)?)*)$/;

export const isSource = (text: string): boolean => sourceForm.test(text);

export const experimentOf = (source: string): string => source.slice(0, source.indexOf("."));

/** Reads the sources of a link; parts that are no sources stay, so that the server can say what is wrong with them. */
export function readSources(text: string | undefined): readonly string[] {
  return [...new Set((text ?? "").split("~").filter((part) => part !== ""))];
}

/** Returns the trials that a source names by their numbers, at most one more than can be compared; null for others. */
export function namedTrials(source: string): readonly string[] | null {
  if (!isSource(source) || /\.(all|best)/.test(source)) return null;
  const experiment = experimentOf(source);
  const trials: string[] = [];
  for (const part of source.slice(experiment.length + 1).split(".")) {
    const [from = 0, to = from] = part.split("-").map(Number);
    for (let number = from; number <= to && trials.length <= comparedMax; number += 1) {
      trials.push(`${experiment}.${number}`);
    }
  }
  return trials;
}

/**
 * Leaves a trial out. Sources of its experiment, such as all trials, become the trials that they name at present;
 * others stay as they are.
 */
export function withoutTrial(
  sources: readonly string[],
  present: readonly string[],
  trial: string,
): readonly string[] {
  return asNamed(
    sources,
    present.filter((one) => one !== trial),
    experimentOf(trial),
  );
}

/** Leaves out what is gone: whole sources, or trials of them. */
export function withoutGone(
  sources: readonly string[],
  present: readonly string[],
  gone: readonly string[],
): readonly string[] {
  const left = sources.filter((source) => !gone.includes(source));
  const ofTrials = gone.filter((one) => !sources.includes(one)).map(experimentOf);
  return [...new Set(ofTrials)].reduce<readonly string[]>(
    (rest, experiment) => asNamed(rest, present, experiment),
    left,
  );
}

/** Replaces the sources of an experiment by those of these trials that belong to it. */
function asNamed(
  sources: readonly string[],
  trials: readonly string[],
  experiment: string,
): readonly string[] {
  const first = sources.findIndex((source) => experimentOf(source) === experiment);
  const named = sourcesOf(trials.filter((one) => experimentOf(one) === experiment));
  return sources.flatMap((source, at) => {
    if (experimentOf(source) !== experiment) return [source];
    return at === first ? named : [];
  });
}

/** Adds sources, without those that are there and trials that are named there. */
export function withSources(
  sources: readonly string[],
  added: readonly string[],
): readonly string[] {
  const named = new Set(sources.flatMap((source) => namedTrials(source) ?? []));
  const further = added.filter((source) => {
    if (sources.includes(source)) return false;
    const trials = namedTrials(source);
    return trials === null || trials.some((trial) => !named.has(trial));
  });
  return [...sources, ...new Set(further)];
}
