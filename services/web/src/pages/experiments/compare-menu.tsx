import { useRouter } from "@tanstack/react-router";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { comparedMax, compareLink } from "../../components/compare-link.ts";
import { Menu } from "../../components/menu.tsx";

/** Compares the selected experiments: the best trial of each, or all trials. */
export function CompareMenu({ ids }: { readonly ids: readonly string[] }): JSX.Element {
  const { history } = useRouter();
  const compare = (which: "best" | "all") => () =>
    history.push(compareLink(ids.map((id) => `${id}.${which}`)));
  const tooMany = ids.length > comparedMax;
  const note = tooMany ? `At most ${comparedMax} trials: select fewer experiments.` : undefined;
  return (
    <Menu
      trigger={<Button>Compare</Button>}
      groups={[
        [
          { title: "The best trial of each", disabled: tooMany, note, onSelect: compare("best") },
          {
            title: "All trials",
            disabled: tooMany,
            note: note ?? `At most ${comparedMax} in all`,
            onSelect: compare("all"),
          },
        ],
      ]}
    />
  );
}
