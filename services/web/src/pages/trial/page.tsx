import { Link } from "@tanstack/react-router";
import { type JSX, useMemo } from "react";
import { useCall } from "../../app/calls.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { duration, number, percent } from "../../components/format.ts";
import { LogView } from "../../components/log-view/log-view.tsx";
import { trialState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Checkpoints } from "./checkpoints.tsx";
import { Overview } from "./overview.tsx";
import { Profile } from "./profile.tsx";
import { trialRoute } from "./route.ts";
import { Runs } from "./runs.tsx";
import type { TrialSearch } from "./search.ts";
import { lineHref, type ShownTrial, type TabProps, trialNumber } from "./trial.ts";
import styles from "./trial.module.css";
import { Validations } from "./validations.tsx";
import { Verbs } from "./verbs.tsx";

export function TrialPage(): JSX.Element {
  const { trial: id } = trialRoute.useParams();
  const experiment = id.split(".")[0] ?? "";
  const trial = useCall("getTrial", { trial: id }, { watch: { kind: "trials", experiment, id } });
  if (trial.data === undefined) {
    return trial.error === null ? (
      <p className={styles["loading"]}>Reading trial {id} …</p>
    ) : (
      <ErrorNote error={trial.error} onRetry={() => void trial.refetch()} />
    );
  }
  return <Page trial={trial.data} />;
}

function Page({ trial }: { readonly trial: ShownTrial }): JSX.Element {
  const search = trialRoute.useSearch();
  const navigate = trialRoute.useNavigate();
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
  const tabs = [
    { id: "overview", title: "Overview" },
    { id: "validations", title: "Validations" },
    { id: "runs", title: "Runs", count: trial.runs.length },
    { id: "checkpoints", title: "Checkpoints" },
    { id: "profile", title: "Profile" },
    { id: "logs", title: "Logs" },
  ];
  return (
    <div className={styles["page"]}>
      <Header trial={trial} />
      <Tabs
        label={`Trial ${trial.id}`}
        tabs={tabs}
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next as TrialSearch["tab"] } })}
      >
        <Content {...props} />
      </Tabs>
    </div>
  );
}

function Content(props: TabProps): JSX.Element {
  const { trial, search, live } = props;
  const navigate = trialRoute.useNavigate();
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

function Header({ trial }: { readonly trial: ShownTrial }): JSX.Element {
  const { experiment, stepsCompleted, createdAtMs, endedAtMs, progress } = trial;
  const isOver = endedAtMs !== undefined;
  const summary = [
    `${number(stepsCompleted)} steps`,
    isOver ? `took ${duration(endedAtMs - createdAtMs)}` : percent(progress),
    trial.bestValue === undefined ? "" : `best ${number(trial.bestValue)}`,
  ];
  return (
    <header className={styles["header"]}>
      <h1>
        <Link to="/experiments">Experiments</Link>
        <span className={styles["slash"]}>/</span>
        <a href={`/experiments/${experiment}`}>{experiment}</a>
        <span className={styles["slash"]}>/</span>
        Trial {trialNumber(trial)}
      </h1>
      <StateBadge state={trialState(trial)} restarts={trial.restarts} title={trial.reason} />
      <p className={styles["summary"]}>{summary.filter((part) => part !== "").join(" · ")}</p>
      <Verbs trial={trial} />
    </header>
  );
}
