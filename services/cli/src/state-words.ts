/** The words for states in tables and fields; the JSON output has the API's names. */
import { shownPhase } from "@trainyard/contracts/state-words";

const words: Readonly<Record<string, string>> = {
  CONDEMNED: "TO BE DELETED",
  PARTIALLY_DELETED: "PARTLY DELETED",
  condemned: "to be deleted",
};

/** Returns the words for what an experiment or a trial does, such as RUNNING or SUSPENDED AT RUNG 2. */
export const phaseWord = (one: { readonly state: string; readonly phase?: string }): string =>
  shownPhase(one).word.toUpperCase();

/** Returns the words for the state of a checkpoint. */
export const stateWord = (state: string): string => words[state] ?? state;
