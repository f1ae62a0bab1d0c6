import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo, useState } from "react";
import { clockOf } from "../../canvas/search-view/clock.ts";
import { stepAt, stepsOf } from "../../canvas/search-view/explain.ts";
import { numberOf, type Picture } from "../../canvas/search-view/layout.ts";
import { SearchCanvas, timeNameOf } from "../../canvas/search-view/search-canvas.tsx";
import { SearchLegend } from "../../canvas/search-view/search-legend.tsx";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { number } from "../../components/format.ts";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall } from "../../data/calls.ts";
import { Scrubber } from "./scrubber.tsx";
import styles from "./search.module.css";
import { SearchTable } from "./search-table.tsx";
import type { TabProps } from "./tabs.ts";
import { TrialOfSearch } from "./trial-of-search.tsx";
import { useHyperparameters } from "./use-hyperparameters.ts";
import { useReadAgain } from "./use-read-again.ts";

const route = getRouteApi("/experiments/$experiment");

export function SearchTab({ experiment }: TabProps): JSX.Element {
  const { id } = experiment;
  const { version, trial = null } = route.useSearch();
  const navigate = route.useNavigate();
  const [asTable, setAsTable] = useState(false);
  const latest = useCall("getSearchPicture", { experiment: id });
  useReadAgain(experiment, latest.refetch);
  const hyperparametersOf = useHyperparameters(experiment);
  const past = useCall(
    "getSearchPicture",
    { experiment: id, version: version ?? 0 },
    { enabled: version !== undefined, keepPrevious: true },
  );
  const steps = useMemo(
    () => (latest.data === undefined ? [] : stepsOf(latest.data)),
    [latest.data],
  );
  const error = latest.error ?? past.error;
  if (error !== null) return <ErrorNote error={error} onRetry={() => void latest.refetch()} />;
  const picture = version === undefined ? latest.data : (past.data ?? latest.data);
  if (picture === undefined || latest.data === undefined) {
    return <LoadingText label="the search" />;
  }
  if (picture.trials.length === 0 && version === undefined) return <Empty id={id} />;
  const set = (change: { version?: number | undefined; trial?: number | undefined }): void =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const at = version === undefined ? steps.length - 1 : stepAt(steps, version);
  const show = (index: number): void => {
    const last = index >= steps.length - 1;
    set({ version: last ? undefined : Math.max(1, steps[index]?.version ?? 1) });
  };
  const choose = (chosen: number | null): void => set({ trial: chosen ?? undefined });
  const shown = { picture, hyperparametersOf, onChoose: choose };
  return (
    <div className={styles["search"]}>
      <div className={styles["main"]}>
        <div className={styles["bar"]}>
          <Scrubber steps={steps} at={at} onShow={show} />
          <Button aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
            {asTable ? "Picture" : "Table"}
          </Button>
        </div>
        <Caption picture={picture} />
        {asTable ? (
          <SearchTable {...shown} />
        ) : (
          <>
            {/* The latest picture has all marks: a replay does not move the canvas. */}
            <SearchLegend picture={latest.data} />
            <SearchCanvas
              {...shown}
              best={bestOf(picture)}
              chosen={trial}
              onStep={(by) => show(Math.max(-1, Math.min(steps.length - 1, at + by)))}
            />
          </>
        )}
      </div>
      {trial !== null && (
        <TrialOfSearch
          experiment={id}
          {...shown}
          trial={trial}
          onVersion={(chosen) => set({ version: chosen })}
        />
      )}
    </div>
  );
}

function Empty({ id }: { readonly id: string }): JSX.Element {
  return (
    <EmptyState
      title="This search has not proposed a trial yet."
      command={`yard search events ${id} --follow`}
    />
  );
}

function bestOf({ trials, smallerIsBetter }: Picture): number | null {
  const sign = smallerIsBetter ? 1 : -1;
  let best: Picture["trials"][number] | null = null;
  for (const trial of trials) {
    if (trial.best === undefined || trial.state === "failed" || trial.state === "invalid") continue;
    if (best?.best === undefined || sign * trial.best < sign * best.best) best = trial;
  }
  return best === null ? null : numberOf(best.trial);
}

function Caption({ picture }: { readonly picture: Picture }): JSX.Element {
  const { algorithm, metric, smallerIsBetter, units, trials, trialsProposed } = picture;
  const time = timeNameOf(picture);
  const rungs = picture.brackets.length > 0;
  return (
    <p className={styles["note"]}>
      {algorithm}: {trialsProposed} trials, {number(units)} {time} of all trials so far.{" "}
      {rungs
        ? `Columns are rungs at their ${time}; the best ${metric} (${smallerIsBetter ? "lower" : "higher"} is better) is on top.`
        : clockOf(picture).of === "trial"
          ? `From left to right the ${time} of each trial; a copy begins at those of its checkpoint.`
          : `From left to right the ${time} of all trials together.`}
      {trials.length < trialsProposed && ` Only the first ${trials.length} trials are shown.`}
    </p>
  );
}
