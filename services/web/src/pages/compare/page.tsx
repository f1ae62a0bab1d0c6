import { getRouteApi } from "@tanstack/react-router";
import { type ComponentType, type JSX, lazy, Suspense, useCallback } from "react";
import { sourcesText } from "../../components/compare-link.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { counted } from "../../components/format.ts";
import { Page } from "../../components/page/page.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { AddBar } from "./add-bar.tsx";
import type { Comparison } from "./comparison.ts";
import styles from "./compare.module.css";
import { CurvesTab } from "./curves-tab.tsx";
import { LiveSeriesOf } from "./live.tsx";
import { GoneNote, SourceList } from "./source-notes.tsx";
import { withoutTrial, withSources } from "./sources.ts";
import { TrialInspector } from "./trial-inspector.tsx";
import { changedSearch, type CompareSearch, type TabId } from "./url.ts";
import { useComparison } from "./use-comparison.ts";

const route = getRouteApi("/compare");

export type TabProps = {
  readonly comparison: Comparison;
  readonly search: CompareSearch;
  readonly change: (change: Partial<CompareSearch>) => void;
  /** Shows a trial in the inspector. */
  readonly onChoose: (trial: string | undefined) => void;
};

const tabs: readonly {
  readonly id: TabId;
  readonly title: string;
  readonly Content: ComponentType<TabProps>;
}[] = [
  { id: "curves", title: "Curves", Content: CurvesTab },
  {
    id: "values",
    title: "Hyperparameters & configuration",
    Content: lazy(async () => ({ default: (await import("./values-tab.tsx")).ValuesTab })),
  },
  {
    id: "code",
    title: "Code & packages",
    Content: lazy(async () => ({ default: (await import("./code-tab.tsx")).CodeTab })),
  },
];

export function ComparePage(): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { sources, read, comparison } = useComparison(search);
  const change = useCallback(
    (next: Partial<CompareSearch>, replace = true) =>
      void navigate({ search: (now) => changedSearch(now, next), replace }),
    [navigate],
  );
  const compare = (next: readonly string[]): void =>
    change({ of: sourcesText(next), at: undefined }, false);
  const present = comparison?.trials.map(({ id }) => id) ?? [];
  const chosen = comparison?.trials.find(({ id }) => id === search.at);
  return (
    <Page title="Compare" state={<span>{summaryOf(comparison)}</span>}>
      <div className={styles["page"]}>
        <div className={styles["main"]}>
          <AddBar onAdd={(added) => compare(withSources(sources, added))} />
          {comparison !== null && (
            <>
              <GoneNote {...{ sources, present }} gone={comparison.gone} onSources={compare} />
              <LiveSeriesOf experiments={comparison.experiments} />
            </>
          )}
          {read.error !== null && (
            <>
              <ErrorNote error={read.error} onRetry={() => void read.refetch()} />
              <SourceList sources={sources} onSources={compare} />
            </>
          )}
          {(read.error === null || comparison !== null) && (
            <Content {...{ search, change, comparison }} isEmpty={sources.length === 0} />
          )}
        </div>
        {chosen !== undefined && (
          <TrialInspector
            key={chosen.id}
            trial={chosen}
            onClose={() => change({ at: undefined })}
            onRemove={() => compare(withoutTrial(sources, present, chosen.id))}
          />
        )}
      </div>
    </Page>
  );
}

function summaryOf(comparison: Comparison | null): string {
  if (comparison === null) return "";
  const { trials, experiments } = comparison;
  return `${counted(trials.length, "trial")} of ${counted(experiments.length, "experiment")}`;
}

type ContentProps = Pick<TabProps, "search" | "change"> & {
  readonly comparison: Comparison | null;
  readonly isEmpty: boolean;
};

function Content({ search, change, comparison, isEmpty }: ContentProps): JSX.Element | null {
  const onChoose = useCallback((at: string | undefined) => change({ at }), [change]);
  if (isEmpty || comparison?.trials.length === 0) return <NothingCompared />;
  const open = tabs.find(({ id }) => id === search.tab) ?? tabs[0];
  if (open === undefined) return null;
  return (
    <Tabs
      label="Comparison"
      tabs={tabs}
      value={open.id}
      onChange={(id) => change({ tab: id as TabId })}
    >
      <Suspense fallback={<LoadingText label={open.title} />}>
        {comparison === null ? (
          <LoadingText label="the comparison" />
        ) : (
          <open.Content {...{ comparison, search, change, onChoose }} />
        )}
      </Suspense>
    </Tabs>
  );
}

function NothingCompared(): JSX.Element {
  return (
    <EmptyState title="Nothing is compared yet.">
      Add experiments above, or select some in the{" "}
      <PathLink to="/experiments">list of experiments</PathLink> with <kbd>x</kbd> and choose
      Compare.
    </EmptyState>
  );
}
