import { type JSX, useState } from "react";
import { KillDialog } from "../../components/kill-dialog.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { useMayOn } from "../../data/may.ts";
import type { ShownTrial } from "./trial.ts";

/** The current actions on a trial: kill one that has not ended, restart one that failed or was canceled. */
export function useVerbs({ id, experiment, state, endedAtMs }: ShownTrial) {
  const may = useMayOn(experiment);
  const restart = useChange("restartTrial", ["getTrial", "listTrials"]);
  const say = useSay();
  const [killing, setKilling] = useState(false);
  const verbs: readonly Verb[] = [
    ...((state === "ERROR" || state === "CANCELED") && may("restartTrial")
      ? [
          {
            title: "Restart",
            disabled: restart.isPending,
            run: () => restart.mutate({ request: { trial: id } }, { onError: say.failed }),
          },
        ]
      : []),
    ...(endedAtMs === undefined && may("killTrial")
      ? [{ title: "Kill", danger: true, run: () => setKilling(true) }]
      : []),
  ];
  return { verbs, killing, setKilling };
}

type Killing = { readonly trial: string; readonly open: boolean; readonly onClose: () => void };

export function KillTrial({ trial, open, onClose }: Killing): JSX.Element {
  const kill = useChange("killTrial", ["getTrial", "listTrials"]);
  return (
    <KillDialog
      what={`trial ${trial}`}
      description="Its processes end at once and store no checkpoint. The other trials of the experiment continue."
      open={open}
      onClose={onClose}
      kill={(reason) => kill.mutate({ request: { trial, reason } }, { onSuccess: onClose })}
      isPending={kill.isPending}
      error={kill.error}
    />
  );
}
