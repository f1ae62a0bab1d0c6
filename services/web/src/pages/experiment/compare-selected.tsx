import { useRouter } from "@tanstack/react-router";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { comparedMax, compareLink } from "../../components/compare-link.ts";

/** Compares the selected trials of the table, in their order. */
export function CompareSelected({ ids }: { readonly ids: ReadonlySet<string> }): JSX.Element {
  const { history } = useRouter();
  const tooMany = ids.size > comparedMax;
  return (
    <Button
      disabled={tooMany}
      title={tooMany ? `At most ${comparedMax} trials can be compared: select fewer.` : undefined}
      onClick={() => history.push(compareLink([...ids]))}
    >
      Compare
    </Button>
  );
}
