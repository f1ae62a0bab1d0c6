/**
 * The best trials of an experiment. When the best trial fails or is rolled back, the next one is shown. Only
 * `leadersMax` trials are kept: if all of them have failed, other trials become leaders with their next validation.
 */
import { parseTrialId } from "@trainyard/kernel";
import { type Attribute, hyperparameterAttributes, metricAttributes } from "./attributes.ts";
import type { DocumentSet, Leader, TrialDocument } from "./documents.ts";

export const leadersMax = 16;

/**
 * Returns the leaders with a trial's value, or without the trial if it has none: best first, and of equal values the
 * earlier one first.
 */
export function withTrial(
  leaders: readonly Leader[],
  trial: string,
  value: number | undefined,
  smallerIsBetter: boolean,
): readonly Leader[] {
  const known = leaders.findIndex((leader) => leader.trial === trial);
  if (known >= 0 && leaders[known]?.value === value) return leaders;
  const others = leaders.filter((leader) => leader.trial !== trial);
  if (value === undefined) return known < 0 ? leaders : others;
  const sign = smallerIsBetter ? 1 : -1;
  const last = leaders[leadersMax - 1];
  if (known < 0 && last !== undefined && sign * (value - last.value) >= 0) return leaders;
  const all = [...others, { trial, value }].sort((a, b) => sign * (a.value - b.value));
  return all.slice(0, leadersMax);
}

/** Updates the leaders after a change of a trial. Its experiment shows the best trial that has not failed. */
export function rankTrial(id: string, documents: DocumentSet): void {
  const trial = documents.get("trial", id);
  const experiment = documents.get("experiment", parseTrialId(id)?.experiment ?? "");
  if (trial === undefined || experiment === undefined) return;
  const { leaders = [] } = documents.get("leaders", experiment.id) ?? {};
  const value = trial.state === "ERROR" ? undefined : trial.bestValue;
  const ranked = withTrial(leaders, id, value, experiment.smallerIsBetter);
  const [best] = ranked;
  if (ranked !== leaders) {
    const ordinal = Number(experiment.id);
    const doc = { leaders: ranked };
    documents.put({ kind: "leaders", id: experiment.id, parent: "", ordinal, doc });
  }
  if (best?.trial === experiment.bestTrial && best?.value === experiment.bestValue) return;
  documents.replace("experiment", experiment.id, (doc) => {
    const { bestTrial: _trial, bestValue: _value, ...rest } = doc;
    if (best === undefined) return { ...rest, attributes: doc.constants };
    const shown = { bestTrial: best.trial, bestValue: best.value };
    const attributes = attributesOf(documents.get("trial", best.trial), doc.metric, best.value);
    return { ...rest, attributes, ...shown };
  });
}

function attributesOf(
  trial: TrialDocument | undefined,
  metric: string,
  value: number,
): readonly Attribute[] {
  const { hyperparameters = {} } = trial ?? {};
  return [...hyperparameterAttributes(hyperparameters), ...metricAttributes({ [metric]: value })];
}
