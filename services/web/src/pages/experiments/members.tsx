import type { JSX } from "react";
import { Dialog } from "../../components/dialog.tsx";
import { Grants } from "../../components/grants/grants.tsx";
import { useMayIn } from "../../data/may.ts";

type Props = { readonly workspace: string; readonly onClose: () => void };

/** The users and groups with a role in a workspace. Its admins give and take roles. */
export function Members({ workspace, onClose }: Props): JSX.Element {
  const mayChange = useMayIn(workspace)("updateWorkspace");
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Members of ${workspace}`}
      description="Users and groups with a role in this workspace. Roles that are given everywhere hold here as well."
    >
      <Grants workspace={workspace} mayChange={mayChange} />
    </Dialog>
  );
}
