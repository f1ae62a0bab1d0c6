import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { areText, labelChange } from "../../components/labels.ts";
import { useChange } from "../../data/calls.ts";
import { commaSentence } from "./about.tsx";
import type { Experiment } from "./tabs.ts";
import type { Edited } from "./verbs-of.ts";

type Read = Pick<Experiment, "etag" | "labels">;

/**
 * Saves a text of the header. A change that another person made since the editing began is not overwritten: the first
 * attempt is refused, and a further one is against what the page shows by then.
 */
export function useTexts(
  experiment: Experiment,
  edited: Edited | null,
): (field: Edited, text: string) => Promise<void> {
  const { id } = experiment;
  const update = useChange("updateExperiment", ["getExperiment", "listExperiments"]);
  const queries = useQueryClient();
  const latest = useRef<Read>(experiment);
  /** The experiment as it was when the editing began; null after a refusal, which has shown the change. */
  const read = useRef<Read | null>(experiment);
  latest.current = experiment;
  if (edited === null) read.current = experiment;
  return async (field, text) => {
    const { etag, labels } = read.current ?? latest.current;
    const change = changeOf(field, text.trim(), labels);
    if (change === null) return;
    try {
      await update.mutateAsync({ request: { experiment: id, ...change }, ifMatch: etag });
    } catch (error) {
      // The change of the other person is read before the refusal is shown, so that saving again is against it.
      await queries.refetchQueries({ queryKey: ["getExperiment", { experiment: id }] });
      read.current = null;
      throw error;
    }
  };
}

function changeOf(field: Edited, text: string, labels: readonly string[]) {
  if (field !== "labels") return { [field]: text };
  if (!areText(labels)) throw new Error(commaSentence);
  return labelChange(labels, text);
}
