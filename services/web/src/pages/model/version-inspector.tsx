import { Link } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Command } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { count, number, time } from "../../components/format.ts";
import { FactList, Inspector } from "../../components/inspector.tsx";
import { shownPairs } from "../../components/nested.ts";
import { useChange } from "../../data/calls.ts";
import { AliasDialog } from "./alias-dialog.tsx";
import { valuesOf } from "./compare.ts";
import { Describe } from "./describe.tsx";
import styles from "./page.module.css";
import { useMayChange } from "./use-may-change.ts";
import { Source, type Version } from "./version-columns.tsx";

type Opened = "alias" | "remove";
type Props = { readonly version: Version; readonly onClose: () => void };

/** A version's lineage, metrics and descriptions, and its actions. */
export function VersionInspector({ version, onClose }: Props): JSX.Element {
  const [open, setOpen] = useState<Opened | null>(null);
  const { model, experiment } = version;
  const close = () => setOpen(null);
  const mayUpdate = useMayChange(model)("updateModelVersion");
  const update = useChange("updateModelVersion", ["listModelVersions", "bestModelVersions"]);
  return (
    <Inspector title={`${model} ${version.number}`} onClose={onClose}>
      <FactList
        facts={[
          ["Semantic version", version.semanticVersion],
          ["Aliases", version.aliases.join(", ")],
          ["Trial", <Source key="source" version={version} />],
          [
            "Experiment",
            experiment === "" ? (
              ""
            ) : (
              <Link to="/experiments/$experiment" params={{ experiment }} search={{}}>
                {experiment}
              </Link>
            ),
          ],
          ["Step", count(version.stepsCompleted)],
          ["Checkpoint", <code key="checkpoint">{version.checkpoint}</code>],
          ["Code", version.codeDigest === "" ? "" : <code>{version.codeDigest.slice(0, 12)}</code>],
          ["Registered", `${time(version.registeredAtMs)} by ${version.registeredBy}`],
          ["Removed", version.state === "REMOVED" ? version.reason || "yes" : ""],
        ]}
      />
      <Buttons version={version} onOpen={setOpen} />
      <Command text={`yard model download ${model} ${version.number} FOLDER`} />
      <h3>Metrics</h3>
      <FactList
        facts={Object.entries(valuesOf(version.metrics)).map(([name, value]) => [
          name,
          number(value),
        ])}
      />
      <h3>Hyperparameters</h3>
      <FactList facts={shownPairs(version.hyperparameters)} />
      <Describe
        key={`${model} ${version.number}`}
        of={version}
        fixed={!mayUpdate}
        isPending={update.isPending}
        error={update.error}
        onSave={(change, onSuccess) =>
          update.mutate(
            { request: { model, version: String(version.number), ...change } },
            { onSuccess },
          )
        }
      />
      {open === "alias" && (
        <AliasDialog model={model} version={String(version.number)} onClose={close} />
      )}
      {open === "remove" && <RemoveDialog version={version} onClose={close} />}
    </Inspector>
  );
}

function Buttons(props: {
  readonly version: Version;
  readonly onOpen: (opened: Opened) => void;
}): JSX.Element {
  const { version, onOpen } = props;
  const may = useMayChange(version.model);
  return (
    <div className={styles["buttons"]}>
      {may("moveModelAlias") && <Button onClick={() => onOpen("alias")}>Promote</Button>}
      {may("removeModelVersion") && (
        <Button
          look="danger"
          disabled={version.state === "REMOVED"}
          onClick={() => onOpen("remove")}
        >
          Remove
        </Button>
      )}
    </div>
  );
}

function RemoveDialog({ version, onClose }: Props): JSX.Element {
  const [reason, setReason] = useState("");
  const remove = useChange("removeModelVersion", [
    "listModelVersions",
    "bestModelVersions",
    "getModel",
  ]);
  const { model, number: at } = version;
  const request = { model, version: String(at), reason };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Remove version ${at} of ${model}`}
      description="The number is not used again. The version no longer pins its checkpoint, so the retention policy of its experiment may delete it."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            disabled={remove.isPending}
            onClick={() => remove.mutate({ request }, { onSuccess: onClose })}
          >
            Remove
          </Button>
        </>
      }
    >
      <Field label="Reason" value={reason} onChange={(event) => setReason(event.target.value)} />
      {remove.error !== null && <ErrorNote error={remove.error} />}
    </Dialog>
  );
}
