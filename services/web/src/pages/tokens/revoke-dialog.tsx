import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import type { Row } from "./columns.tsx";

type Props = { readonly token: Row; readonly onClose: () => void };

export function RevokeDialog({ token, onClose }: Props): JSX.Element {
  const say = useSay();
  const change = useChange("revokeToken", ["listTokens"]);
  const name = token.label || token.id;
  const revoke = (): void =>
    change.mutate(
      { request: { token: token.id } },
      {
        onSuccess: () => {
          say.done(`The token ${name} is revoked.`);
          onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Revoke ${name}?`}
      description="Programs and sessions that use the token are refused, and so are those of the tokens that were created with it. This cannot be undone."
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" onClick={revoke} disabled={change.isPending}>
            Revoke
          </Button>
        </>
      }
    >
      {change.error !== null && <ErrorNote error={change.error} />}
    </Dialog>
  );
}
