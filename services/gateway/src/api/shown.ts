/** Documents as the API shows them: without what only the fold needs. */
import type { Plain } from "@trainyard/contracts";
import type { Agent, Experiment, Token, Trial } from "@trainyard/contracts/api";
import type {
  AgentDocument,
  ExperimentDocument,
  TokenDocument,
  TrialDocument,
} from "../core/views/documents.ts";

export function shownExperiment({
  trialsMax: _trialsMax,
  contextDigest: _contextDigest,
  ...shown
}: ExperimentDocument): Plain<Experiment> {
  return shown;
}

/** A trial of a paused experiment that nobody stops otherwise is paused itself. */
export function shownTrial(
  { records: _records, recent: _recent, ...shown }: TrialDocument,
  experiment: { readonly state: string } | undefined,
): Plain<Trial> {
  const paused = shown.state === "ACTIVE" && experiment?.state === "PAUSED";
  return paused ? { ...shown, state: "PAUSED" } : shown;
}

export function shownToken({ secretDigest: _secretDigest, ...shown }: TokenDocument): Plain<Token> {
  return shown;
}

/** Slots with what keeps runs from them. A slot is drained as soon as no run holds it. */
export function shownAgent({
  labels = {},
  disabledSlots = [],
  ...shown
}: AgentDocument): Plain<Agent> {
  const slots = shown.slots.map((slot) => {
    const found = disabledSlots.find((one) => one.slot === slot.id);
    if (found === undefined) return slot;
    const { slot: _id, ...disabled } = found;
    const drained = disabled.state === "DRAINING" && slot.run === "";
    return { ...slot, disabled: drained ? { ...disabled, state: "DRAINED" } : disabled };
  });
  return { ...shown, labels, slots };
}
