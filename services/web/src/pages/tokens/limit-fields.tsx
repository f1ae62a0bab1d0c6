import type { JSX } from "react";
import { Choice } from "../../components/field.tsx";
import { NamesField } from "../../components/names-field.tsx";
import { useCall } from "../../data/calls.ts";
import { useRights } from "../../data/me.ts";
import { ServiceChoice } from "./service-choice.tsx";

/** The limit of a new token below the rights of its owner. */
export type Limit = {
  /** The name of the role; empty for none. */
  readonly role: string;
  readonly workspaces: readonly string[];
  /** The service account that the token is for; empty for the caller. */
  readonly user: string;
};

export const noLimit: Limit = { role: "", workspaces: [], user: "" };

type Props = { readonly limit: Limit; readonly onChange: (limit: Limit) => void };

/** The role and the workspaces that limit a new token, and for admins the service account that it is for. */
export function LimitFields({ limit, onChange }: Props): JSX.Element {
  const roles = useCall("listRoles", {}).data?.items ?? [];
  const places = useCall("listWorkspaces", { pageSize: 200 }).data?.items ?? [];
  const isAdmin = useRights().everywhere("user_admin");
  const { role, workspaces, user } = limit;
  return (
    <>
      {isAdmin && (
        <ServiceChoice value={user} onChange={(name) => onChange({ ...limit, user: name })} />
      )}
      <Choice
        label="Role"
        hint="The token does no more than the role, and never more than its owner."
        value={role}
        onChange={(event) => onChange({ ...limit, role: event.target.value })}
      >
        <option value="">everything that its owner may do</option>
        {roles.map(({ id, name, description }) => (
          <option key={id} value={name}>
            {description === "" ? name : `${name}: ${description}`}
          </option>
        ))}
      </Choice>
      <NamesField
        label="Workspaces"
        hint={workspaces.length === 0 ? "All, unless you add some." : "The token works only there."}
        names={workspaces}
        offered={places.map(({ name }) => name)}
        onAdd={(name) => onChange({ ...limit, workspaces: [...workspaces, name] })}
        onRemove={(name) =>
          onChange({ ...limit, workspaces: workspaces.filter((one) => one !== name) })
        }
      />
    </>
  );
}
