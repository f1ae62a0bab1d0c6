import { getRouteApi } from "@tanstack/react-router";
import { type JSX, Suspense, useState } from "react";
import { EditInPlace } from "../../components/edit-in-place.tsx";
import { Page } from "../../components/page/page.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { experimentState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useTensorBoard } from "../../components/task-page/use-tensorboard.tsx";
import { useCall } from "../../data/calls.ts";
import { usePoints } from "../../data/live/points.ts";
import { useMay } from "../../data/may.ts";
import { About } from "./about.tsx";
import { Facts, FactsLoading } from "./facts.tsx";
import { ExperimentFailure } from "./failure.tsx";
import { isMissing, Missing } from "./missing.tsx";
import styles from "./page.module.css";
import { type Experiment, type ExperimentTab, tabs } from "./tabs.ts";
import { useTexts } from "./use-texts.ts";
import type { Edited } from "./verbs-of.ts";
import { useVerbs } from "./verbs.tsx";

const above = [{ title: "Experiments", to: "/experiments" }];
/** The verbs before TensorBoard: the first two that can run are buttons. */
const buttonsMax = 3;
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
  const [edited, setEdited] = useState<Edited | null>(null);
  const { verbs, ask, dialog } = useVerbs(experiment, setEdited);
  const save = useTexts(experiment, edited);
  const board = useTensorBoard(id);
  const mayEdit = useMay()("updateExperiment", experiment);
  return (
    <Page
      title={`${id} ${name}`}
      heading={
        <>
          <span>{id}</span>
          <EditInPlace
            label={`name of experiment ${id}`}
            text={name}
            fixed={!mayEdit}
            editing={edited === "name"}
            onEdit={(editing) => setEdited(editing ? "name" : null)}
            save={(text) => save("name", text)}
          />
        </>
      }
      above={above}
      state={<StateBadge state={experimentState(experiment)} title={reason} />}
      verbs={[...verbs.slice(0, buttonsMax), ...board.verbs, ...verbs.slice(buttonsMax)]}
    >
      <Facts experiment={experiment}>
        <About
          experiment={experiment}
          edited={edited}
          onEdit={setEdited}
          save={save}
          onMove={() => ask("move")}
        />
      </Facts>
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
