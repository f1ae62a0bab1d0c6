import type { JSX } from "react";
import { useCall, useChange } from "../../app/calls.ts";

export function ExperimentsPage(): JSX.Element {
  const experiments = useCall(
    "listExperiments",
    { pageSize: 100 },
    { watch: { kind: "experiments" } },
  );
  const pause = useChange("pauseExperiment", ["listExperiments"]);
  return (
    <section>
      <h1>Experiments</h1>
      <ul>
        {experiments.data?.items.map(({ id, name, state }) => (
          <li key={id}>
            {id} {name} {state}{" "}
            {state === "ACTIVE" && (
              <button type="button" onClick={() => pause.mutate({ request: { experiment: id } })}>
                Pause
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
