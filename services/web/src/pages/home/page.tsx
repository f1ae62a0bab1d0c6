import { Link } from "@tanstack/react-router";
import type { JSX } from "react";
import { useCall } from "../../app/calls.ts";

export function HomePage(): JSX.Element {
  const filter = "state = ACTIVE";
  const running = useCall(
    "listExperiments",
    { filter, pageSize: 20 },
    { watch: { kind: "experiments", filter } },
  );
  return (
    <section>
      <h1>Running</h1>
      <ul>
        {running.data?.items.map(({ id, name }) => (
          <li key={id}>
            <Link to="/experiments">{name}</Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
