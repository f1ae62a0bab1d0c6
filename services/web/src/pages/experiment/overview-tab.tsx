import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { exactly } from "../../components/list-total.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { BestSoFar } from "./best-so-far.tsx";
import { BestTrial } from "./best-trial.tsx";
import { Curves } from "./curves.tsx";
import { Importance } from "./importance.tsx";
import styles from "./overview.module.css";
import { ParetoFront } from "./pareto-front.tsx";
import type { TabProps } from "./tabs.ts";
import { readTrials } from "./url.ts";
import { useTrials } from "./use-trials.ts";
import { WhichChoice } from "./which-choice.tsx";
import { drawnOf, readWhich } from "./which-trials.ts";

const route = getRouteApi("/experiments/$experiment");

export function OverviewTab({ experiment }: TabProps): JSX.Element {
  const { id, smallerIsBetter, searcher } = experiment;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const which = readWhich(search.drawn);
  const { trials, error, refetch, isPending } = useTrials(experiment, which);
  const selected = useMemo(() => readTrials(search.trials), [search.trials]);
  const drawn = useMemo(
    () => drawnOf(trials, which, selected, smallerIsBetter),
    [trials, which, selected, smallerIsBetter],
  );
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (trials.length === 0 && !isPending) {
    return (
      <EmptyState
        title="This experiment has no trial yet."
        command={`yard experiment logs ${id} -f`}
      >
        The search proposes the first trial when it starts.
      </EmptyState>
    );
  }
  // A single trial is no search: nothing is compared, so nothing improves and nothing is important.
  const isSearch = searcher !== "single";
  return (
    <div className={styles["overview"]}>
      <section className={styles["curves"]} aria-label="Curves">
        <Curves {...{ experiment, trials, drawn }} />
        <WhichChoice
          shown={drawn.length}
          total={exactly(Math.max(trials.length, isPending ? 0 : experiment.trials))}
          metric={experiment.metric}
          which={which}
          onWhich={(next) =>
            void navigate({
              search: (now) => ({ ...now, drawn: next === "best" ? undefined : next }),
              replace: true,
            })
          }
        />
      </section>
      <BestTrial experiment={experiment} />
      {isSearch && <BestSoFar experiment={experiment} />}
      {isSearch && <Importance experiment={experiment} />}
      <ParetoFront experiment={experiment} />
    </div>
  );
}
