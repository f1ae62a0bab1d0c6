import type { Plain } from "@trainyard/contracts";
import type { Model } from "@trainyard/contracts/api";
import type { JSX } from "react";
import { time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import { shownPairs } from "../../components/nested.ts";
import { useChange } from "../../data/calls.ts";
import { useMayChange } from "./use-may-change.ts";
import { Describe } from "./describe.tsx";
import styles from "./page.module.css";

export function AboutTab({ model }: { readonly model: Plain<Model> }): JSX.Element {
  const update = useChange("updateModel", ["getModel", "listModels"]);
  const mayChange = useMayChange(model.name)("updateModel");
  return (
    <div className={styles["column"]}>
      <FactList
        facts={[
          ["Workspace", model.workspace],
          ["Created", `${time(model.createdAtMs)} by ${model.createdBy}`],
          ["Changed", time(model.changedAtMs)],
          ...shownPairs(model.metadata),
        ]}
      />
      <Describe
        of={model}
        fixed={!mayChange}
        isPending={update.isPending}
        error={update.error}
        onSave={(change, onSuccess) =>
          update.mutate({ request: { model: model.name, ...change } }, { onSuccess })
        }
      />
    </div>
  );
}
