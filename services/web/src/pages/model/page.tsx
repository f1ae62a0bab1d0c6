import { getRouteApi } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { useCall, useChange } from "../../app/calls.ts";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { AboutTab } from "./about-tab.tsx";
import { AliasDialog } from "./alias-dialog.tsx";
import { AliasesTab } from "./aliases-tab.tsx";
import styles from "./page.module.css";
import { VersionsTab } from "./versions-tab.tsx";

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
  if (model.error !== null) {
    return <ErrorNote error={model.error} onRetry={() => void model.refetch()} />;
  }
  const { data } = model;
  const request = { request: { model: name, reason: "" } };
  return (
    <section className={styles["page"]}>
      <header className={styles["header"]}>
        <h1>{name}</h1>
        {data?.archived === true && <span className={styles["archived"]}>archived</span>}
        <p className={styles["description"]}>{data?.description}</p>
        <Button
          look="primary"
          disabled={data === undefined || data.versions === 0}
          onClick={() => setPromoting(true)}
        >
          Move an alias
        </Button>
        {data?.archived === true ? (
          <Button onClick={() => unarchive.mutate({ request: { model: name } })}>Unarchive</Button>
        ) : (
          <Button disabled={data === undefined} onClick={() => archive.mutate(request)}>
            Archive
          </Button>
        )}
      </header>
      {failed !== null && <ErrorNote error={failed} />}
      <Tabs
        label={`Model ${name}`}
        value={tab}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, tab: next }) })}
        tabs={[
          { id: "versions", title: "Versions", count: data?.versions },
          { id: "aliases", title: "Aliases", count: Object.keys(data?.aliases ?? {}).length },
          { id: "about", title: "About" },
        ]}
      >
        {tab === "versions" && <VersionsTab model={name} />}
        {tab === "aliases" && <AliasesTab model={name} aliases={data?.aliases ?? {}} />}
        {tab === "about" && data !== undefined && <AboutTab key={data.changedAtMs} model={data} />}
      </Tabs>
      {promoting && <AliasDialog model={name} version="" onClose={() => setPromoting(false)} />}
    </section>
  );
}
