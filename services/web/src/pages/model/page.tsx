import { getRouteApi } from "@tanstack/react-router";
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
  const refresh = ["getModel", "listModels"] as const;
  const archive = useChange("archiveModel", refresh);
  const unarchive = useChange("unarchiveModel", refresh);
  const failed = archive.error ?? unarchive.error;
  const { data } = model;
  const request = { request: { model: name, reason: "" } };
  const verbs: readonly Verb[] =
    data === undefined
      ? []
      : [
          {
            title: "Promote a version",
            primary: true,
            disabled: data.versions === 0,
            run: () => setPromoting(true),
          },
          data.archived
            ? { title: "Unarchive", run: () => unarchive.mutate({ request: { model: name } }) }
            : { title: "Archive", run: () => archive.mutate(request) },
        ];
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
