import { getRouteApi } from "@tanstack/react-router";
import { type JSX, Suspense } from "react";
import { useCall } from "../../app/calls.ts";
import { usePoints } from "../../app/live/points.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Header } from "./header.tsx";
import styles from "./page.module.css";
import { tabs } from "./tabs.ts";

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
  if (error !== null) return <ErrorNote error={error} onRetry={() => void answer.refetch()} />;
  const open = tabs.find((tab) => tab.id === search.tab) ?? tabs[0];
  if (experiment === undefined || open === undefined) {
    return <p className={styles["loading"]}>Loading experiment {id} …</p>;
  }
  const show = (tab: string) =>
    void navigate({ search: (now) => ({ ...now, tab: tab === tabs[0]?.id ? undefined : tab }) });
  return (
    <div className={styles["page"]}>
      <Header experiment={experiment} />
      <Tabs label={`Experiment ${id}`} tabs={tabs} value={open.id} onChange={show}>
        <Suspense fallback={<p className={styles["loading"]}>Loading …</p>}>
          <open.Content experiment={experiment} />
        </Suspense>
      </Tabs>
    </div>
  );
}
