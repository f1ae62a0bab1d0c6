import { getRouteApi } from "@tanstack/react-router";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useState } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { Page } from "../../components/page/page.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { AboutTab } from "./about-tab.tsx";
import { AliasDialog } from "./alias-dialog.tsx";
import { AliasesTab } from "./aliases-tab.tsx";
import styles from "./page.module.css";
import { useMayChange } from "./use-may-change.ts";
import { VersionsTab } from "./versions-tab.tsx";

const above = [{ title: "Models", to: "/models" }];
const route = getRouteApi("/models/$model");

export function ModelPage(): JSX.Element {
  const { model: name } = route.useParams();
  const { tab = "versions" } = route.useSearch();
  const navigate = route.useNavigate();
  const [promoting, setPromoting] = useState(false);
  const model = useCall(
    "getModel",
    { model: name },
    { watch: { kind: "models", id: name }, follow: true },
  );
  const { data } = model;
  const { verbs, failed } = useVerbs(name, data, () => setPromoting(true));
  return (
    <Page title={name} above={above} verbs={verbs}>
      {model.error !== null && (
        <ErrorNote error={model.error} onRetry={() => void model.refetch()} />
      )}
      {failed !== null && <ErrorNote error={failed} />}
      {data !== undefined && (
        <>
          <p className={styles["summary"]}>
            {data.archived && <strong>Archived. </strong>}
            {data.description}
          </p>
          <Tabs
            label={`Model ${name}`}
            value={tab}
            onChange={(next) => void navigate({ search: (old) => ({ ...old, tab: next }) })}
            tabs={[
              { id: "versions", title: "Versions", count: data.versions },
              { id: "aliases", title: "Aliases", count: Object.keys(data.aliases).length },
              { id: "about", title: "About" },
            ]}
          >
            {tab === "versions" && <VersionsTab model={name} />}
            {tab === "aliases" && <AliasesTab model={name} aliases={data.aliases} />}
            {tab === "about" && <AboutTab key={name} model={data} />}
          </Tabs>
        </>
      )}
      {promoting && <AliasDialog model={name} version="" onClose={() => setPromoting(false)} />}
    </Page>
  );
}

/** The actions on a model that the caller may take; none before it was read. */
function useVerbs(name: string, model: ReplyOf<"getModel"> | undefined, promote: () => void) {
  const refresh = ["getModel", "listModels"] as const;
  const archive = useChange("archiveModel", refresh);
  const unarchive = useChange("unarchiveModel", refresh);
  const may = useMayChange(name);
  const failed = archive.error ?? unarchive.error;
  if (model === undefined) return { verbs: [], failed };
  const run = model.archived
    ? () => unarchive.mutate({ request: { model: name } })
    : () => archive.mutate({ request: { model: name, reason: "" } });
  const disabled = model.versions === 0;
  const promoting = { title: "Promote a version", primary: true, disabled, run: promote };
  const verbs: readonly Verb[] = [
    ...(may("moveModelAlias") ? [promoting] : []),
    ...(may("archiveModel") ? [{ title: model.archived ? "Unarchive" : "Archive", run }] : []),
  ];
  return { verbs, failed };
}
