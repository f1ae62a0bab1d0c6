import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { useChange } from "../../data/calls.ts";

type Props = {
  readonly what: "group" | "role";
  readonly name: string;
  readonly means: string;
  readonly onClose: () => void;
};

const refresh = ["listGroups", "listRoles", "listGrants", "listUsers", "getMe"] as const;

export function ConfirmDelete({ what, name, means, onClose }: Props): JSX.Element {
  const group = useChange("deleteGroup", refresh);
  const role = useChange("deleteRole", refresh);
  const run = (): void => {
    const then = { onSuccess: onClose };
    if (what === "group") group.mutate({ request: { group: name } }, then);
    else role.mutate({ request: { role: name } }, then);
  };
  const error = group.error ?? role.error;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete the ${what} ${name}?`}
      description={means}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={group.isPending || role.isPending} onClick={run}>
            Delete
          </Button>
        </>
      }
    >
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}
