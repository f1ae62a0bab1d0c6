import { useState } from "react";
import { count } from "../../components/format.ts";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import type { exportCsv } from "./export-csv.ts";

/**
 * The verb that saves the list as a file. With many rows that takes a while: the title shows the progress, and the verb
 * is disabled.
 */
export function useCsv(save: () => ReturnType<typeof exportCsv>): Verb {
  const say = useSay();
  const [isSaving, setSaving] = useState(false);
  const run = (): void => {
    if (isSaving) return;
    setSaving(true);
    save()
      .then(({ rows, isCut }) => {
        const more = isCut ? " The list has more rows than a file may have: use a filter." : "";
        say.done(`${count(rows)} rows are in experiments.csv.${more}`);
      }, say.failed)
      .finally(() => setSaving(false));
  };
  return { title: isSaving ? "Saving as CSV …" : "Save as CSV", run };
}
