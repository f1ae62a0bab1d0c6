import type { JSX } from "react";
import { useChange } from "../data/calls.ts";
import { Button } from "./button.tsx";
import { useSay } from "./toasts.tsx";

/** Brings a deleted experiment back, within its time of grace. */
export function BringBack({ experiment }: { readonly experiment: string }): JSX.Element {
  const say = useSay();
  const undelete = useChange("undeleteExperiment", [
    "getExperiment",
    "listExperiments",
    "listDeletedExperiments",
  ]);
  return (
    <Button
      aria-label={`Bring back experiment ${experiment}`}
      disabled={undelete.isPending}
      onClick={() =>
        // A promise is needed: callbacks of `mutate` are dropped once the row with this button has left the list.
        void undelete
          .mutateAsync({ request: { experiment } })
          .then(() => say.done(`Experiment ${experiment} is back.`), say.failed)
      }
    >
      Bring back
    </Button>
  );
}
