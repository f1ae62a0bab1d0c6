import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { LogView } from "../../components/log-view/log-view.tsx";
import { Page } from "../../components/page/page.tsx";
import { Position } from "./position.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { trialState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useTensorBoard } from "../../components/task-page/use-tensorboard.tsx";
import { Warning } from "../../components/warning.tsx";
import { useCall } from "../../data/calls.ts";
import { Checkpoints } from "./checkpoints.tsx";
import { Overview } from "./overview.tsx";
import { Profile } from "./profile.tsx";
import { Runs } from "./runs.tsx";
import type { TrialSearch } from "./search.ts";
import styles from "./trial.module.css";
import { lineHref, type ShownTrial, type TabProps } from "./trial.ts";
import { Validations } from "./validations.tsx";
import { KillTrial, useVerbs } from "./verbs.tsx";

const route = getRouteApi("/trials/$trial");

export function TrialPage(): JSX.Element {
  const { trial: id } = route.useParams();
  const experiment = id.split(".")[0] ?? "";
  const trial = useCall("getTrial", { trial: id }, { watch: { kind: "trials", experiment, id } });
  const { tab = "overview" } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (next: string) => void navigate({ search: { tab: next as TrialSearch["tab"] } });
  if (trial.data !== undefined) return <TrialOf trial={trial.data} onTab={show} />;
  return (
    <Page title={`Trial ${id}`} above={aboveOf(experiment)}>
      {trial.error === null ? (
        <>
          <p className={styles["position"]} />
          <Tabs label={`Trial ${id}`} tabs={tabsOf()} value={tab} onChange={show}>
            <LoadingText label={`trial ${id}`} />
          </Tabs>
        </>
      ) : (
        <ErrorNote error={trial.error} onRetry={() => void trial.refetch()} />
      )}
    </Page>
  );
}

type TrialProps = { readonly trial: ShownTrial; readonly onTab: (tab: string) => void };

function TrialOf({ trial, onTab }: TrialProps): JSX.Element {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { verbs, killing, setKilling } = useVerbs(trial);
  const board = useTensorBoard(trial.id);
  const props = useMemo<TabProps>(
    () => ({
      trial,
      search,
      live: trial.endedAtMs === undefined,
      onSearch: (changes) =>
        void navigate({
          search: (before: TrialSearch) => ({ ...before, ...changes }),
          replace: true,
        }),
    }),
    [trial, search, navigate],
  );
  const { tab = "overview" } = search;
  return (
    <Page
      title={`Trial ${trial.id}`}
      above={aboveOf(trial.experiment)}
      state={
        <StateBadge state={trialState(trial)} restarts={trial.restarts} title={trial.reason} />
      }
      verbs={[...verbs, ...board.verbs]}
    >
      <Position trial={trial} />
      <Warning text={trial.warning} />
      <Tabs
        label={`Trial ${trial.id}`}
        tabs={tabsOf(trial.runs.length)}
        value={tab}
        onChange={onTab}
      >
        <Content {...props} />
      </Tabs>
      <KillTrial trial={trial.id} open={killing} onClose={() => setKilling(false)} />
      {board.dialog}
    </Page>
  );
}

const aboveOf = (experiment: string) => [
  { title: "Experiments", to: "/experiments" },
  { title: `Experiment ${experiment}`, to: `/experiments/${experiment}` },
];

const tabsOf = (runs?: number) => [
  { id: "overview", title: "Overview" },
  { id: "validations", title: "Validations" },
  { id: "runs", title: "Runs", count: runs },
  { id: "checkpoints", title: "Checkpoints" },
  { id: "profile", title: "Profile" },
  { id: "logs", title: "Logs" },
];

function Content(props: TabProps): JSX.Element {
  const { trial, search, live } = props;
  const navigate = route.useNavigate();
  switch (search.tab) {
    case "validations":
      return <Validations {...props} />;
    case "runs":
      return <Runs {...props} />;
    case "checkpoints":
      return <Checkpoints {...props} />;
    case "profile":
      return <Profile {...props} />;
    case "logs":
      return (
        <LogView
          task={{ trial: trial.id }}
          search={search}
          onSearch={(next) => void navigate({ search: { ...next, tab: "logs" }, replace: true })}
          hrefOf={(cursor) => lineHref(trial.id, cursor)}
          live={live}
        />
      );
    default:
      return <Overview {...props} />;
  }
}
