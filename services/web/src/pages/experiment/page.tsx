import { getRouteApi } from "@tanstack/react-router";
import { type JSX, Suspense } from "react";
import { Page } from "../../components/page/page.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { experimentState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useTensorBoard } from "../../components/task-page/use-tensorboard.tsx";
import { useCall } from "../../data/calls.ts";
import { usePoints } from "../../data/live/points.ts";
import { Facts, FactsLoading } from "./facts.tsx";
import { ExperimentFailure } from "./failure.tsx";
import { isMissing, Missing } from "./missing.tsx";
import styles from "./page.module.css";
import { type Experiment, type ExperimentTab, tabs } from "./tabs.ts";
import { useVerbs } from "./verbs.tsx";

const above = [{ title: "Experiments", to: "/experiments" }];
const route = getRouteApi("/experiments/$experiment");
const unended = new Set(["ACTIVE", "PAUSED", "STOPPING_CANCELED", "STOPPING_KILLED"]);

export function ExperimentPage(): JSX.Element {
  const { experiment: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const answer = useCall(
    "getExperiment",
    { experiment: id },
    { watch: { kind: "experiments", id, archived: true } },
  );
  const { data: experiment, error } = answer;
  usePoints(id, experiment !== undefined && unended.has(experiment.state));
  const open = tabs.find((tab) => tab.id === search.tab) ?? tabs[0];
  const show = (tab: string) =>
    void navigate({ search: (now) => ({ ...now, tab: tab === tabs[0]?.id ? undefined : tab }) });
  if (experiment === undefined || open === undefined || isMissing(error)) {
    return (
      <Page title={`Experiment ${id}`} above={above}>
        {error === null ? (
          <>
            <FactsLoading />
            <Tabs label={`Experiment ${id}`} tabs={tabs} value={open?.id ?? ""} onChange={show}>
              <LoadingText label={`experiment ${id}`} />
            </Tabs>
          </>
        ) : (
          <Missing experiment={id} error={error} onRetry={() => void answer.refetch()} />
        )}
      </Page>
    );
  }
  return <Loaded experiment={experiment} open={open} onTab={show} />;
}

type LoadedProps = {
  readonly experiment: Experiment;
  readonly open: ExperimentTab;
  readonly onTab: (id: string) => void;
};

function Loaded({ experiment, open, onTab }: LoadedProps): JSX.Element {
  const { id, name, reason } = experiment;
  const { verbs, dialog } = useVerbs(experiment);
  const board = useTensorBoard(id);
  return (
    <Page
      title={`${id} ${name}`}
      above={above}
      state={<StateBadge state={experimentState(experiment)} title={reason} />}
      verbs={[...verbs, board.verb]}
    >
      <Facts experiment={experiment} />
      <Tabs label={`Experiment ${id}`} tabs={tabs} value={open.id} onChange={onTab}>
        <Suspense fallback={<LoadingText label={open.title} />}>
          <Content experiment={experiment} open={open} />
        </Suspense>
      </Tabs>
      {dialog}
      {board.dialog}
    </Page>
  );
}

/** The first tab of a failed experiment begins with the reason. */
function Content({ experiment, open }: Omit<LoadedProps, "onTab">): JSX.Element {
  const shown = <open.Content experiment={experiment} />;
  if (experiment.state !== "ERROR" || open.id !== tabs[0]?.id) return shown;
  return (
    <div className={styles["failed"]}>
      <ExperimentFailure experiment={experiment} />
      {shown}
    </div>
  );
}
