import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useChange } from "../../data/calls.ts";

type Props = {
  readonly model: string;
  /** Empty if the user is to choose. */
  readonly version: string;
  readonly onClose: () => void;
};

/** Promotes a version: the alias then names it. */
export function AliasDialog({ model, version: given, onClose }: Props): JSX.Element {
  const [alias, setAlias] = useState("champion");
  const [version, setVersion] = useState(given);
  const [reason, setReason] = useState("");
  const move = useChange("moveModelAlias", [
    "getModel",
    "listModels",
    "listModelVersions",
    "bestModelVersions",
    "listModelAliasMoves",
  ]);
  const request = { model, alias: alias.trim(), version: version.trim(), reason };
  const isReady = request.alias !== "" && request.version !== "" && !move.isPending;
  const submit = () => move.mutate({ request }, { onSuccess: onClose });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Promote a version of ${model}`}
      description="The alias then names this version, and downloads by the alias return it. It is recorded with your reason."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!isReady} onClick={submit}>
            Promote
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) submit();
        }}
      >
        <Field label="Alias" value={alias} onChange={(event) => setAlias(event.target.value)} />
        <Field
          label="Version"
          hint="A number, a semantic version or another alias."
          value={version}
          onChange={(event) => setVersion(event.target.value)}
        />
        <Field label="Reason" value={reason} onChange={(event) => setReason(event.target.value)} />
        <button type="submit" hidden aria-hidden tabIndex={-1} />
      </form>
      {move.error !== null && <ErrorNote error={move.error} />}
    </Dialog>
  );
}
