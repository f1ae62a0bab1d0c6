/** The warnings about trials that completed without a value of the searcher's metric, or with one that is no number. */
import { parseTrialId } from "@trainyard/kernel";
import type { DocumentSet, TrialDocument } from "./documents.ts";
import type { Projections } from "./projections.ts";

export const warningProjections: Projections = {
  ValidationReported({ data }, documents) {
    const { metric = "" } = documents.get("experiment", experimentOf(data.trial)) ?? {};
    const value = Object.hasOwn(data.scalars, metric) ? data.scalars[metric] : undefined;
    if (value !== undefined && !Number.isFinite(value)) {
      documents.update("trial", data.trial, () => ({ hasNotFinite: true }));
    }
    warn(data.trial, documents);
  },
  TrialEnded: ({ id }, documents) => warn(id, documents),
  TrialContinued: ({ id }, documents) => warn(id, documents),
};

type Kind = "missing" | "not_finite";

const experimentOf = (trial: string): string => parseTrialId(trial)?.experiment ?? "";

function kindOf(trial: TrialDocument): Kind | null {
  if (trial.state !== "COMPLETED" || trial.endedAtMs === undefined) return null;
  if (trial.hasNotFinite === true) return "not_finite";
  return trial.bestValue === undefined ? "missing" : null;
}

/** Updates the warnings of a trial and of its experiment. */
function warn(id: string, documents: DocumentSet): void {
  const trial = documents.get("trial", id);
  const experiment = documents.get("experiment", experimentOf(id));
  if (trial === undefined || experiment === undefined || experiment.metric === "") return;
  const kind = kindOf(trial);
  const before = trial.warned ?? null;
  const { metric } = experiment;
  const sentences = {
    missing: `no value of ${metric} was reported`,
    not_finite: `${metric} was NaN or infinite`,
  };
  if (kind !== before) {
    documents.update("trial", id, () => ({
      warned: kind,
      warning: kind === null ? "" : sentences[kind],
    }));
  }
  const { missing = 0, notFinite = 0 } = experiment.warned ?? {};
  const change = (of: Kind): number => Number(kind === of) - Number(before === of);
  const warned = {
    missing: missing + change("missing"),
    notFinite: notFinite + change("not_finite"),
  };
  const parts = [
    ...(warned.missing === 0
      ? []
      : [`${trials(warned.missing)} completed without a value of ${metric}`]),
    ...(warned.notFinite === 0
      ? []
      : [`${trials(warned.notFinite)} reported NaN or infinite values of ${metric}`]),
  ];
  const warning = parts.join("; ");
  if (kind === before && warning === experiment.warning) return;
  documents.update("experiment", experiment.id, () => ({ warned, warning }));
}

const trials = (count: number): string => (count === 1 ? "1 trial" : `${count} trials`);
