import type { JSX } from "react";
import { Choice } from "../../components/field.tsx";
import { useCall } from "../../data/calls.ts";

type Props = { readonly value: string; readonly onChange: (name: string) => void };

/** The owner of a new token: the caller, or a service account. Nothing where there is no service account. */
export function ServiceChoice({ value, onChange }: Props): JSX.Element | null {
  const users = useCall("listUsers", { pageSize: 1_000 });
  const services = users.data?.items.filter(
    ({ kind, disabled }) => kind === "service" && !disabled,
  );
  if (services === undefined || services.length === 0) return null;
  return (
    <Choice label="For" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">me</option>
      {services.map(({ id, name }) => (
        <option key={id} value={name}>
          the service account {name}
        </option>
      ))}
    </Choice>
  );
}
