import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { areText } from "../../components/labels.ts";
import { useChange } from "../../data/calls.ts";
import { commaSentence } from "./about.tsx";
import type { Experiment } from "./tabs.ts";
import { TextEdit } from "./text-edit.ts";
import type { Edited } from "./verbs-of.ts";

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
  const latest = useRef(experiment);
  const editing = useRef({ edited, edit: new TextEdit(experiment) });
  latest.current = experiment;
  if (edited !== editing.current.edited) {
    editing.current = { edited, edit: new TextEdit(experiment) };
  }
  return async (field, text) => {
    const { edit } = editing.current;
    if (field === "labels" && !areText(edit.labels)) throw new Error(commaSentence);
    const request = edit.request(field, text, latest.current);
    if (request === null) return;
    const { change, ifMatch } = request;
    try {
      await update.mutateAsync({ request: { experiment: id, ...change }, ifMatch });
    } catch (error) {
      // The change of the other person is read before the refusal is shown, so that saving again is against it.
      if (edit.isOutdatedBy(error)) {
        await queries.refetchQueries({ queryKey: ["getExperiment", { experiment: id }] });
      }
      throw error;
    }
  };
}
