import { CircleQuestionMark } from "lucide-react";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { FilterField } from "../../components/filter-field.tsx";
import { Menu } from "../../components/menu.tsx";
import { FilterHelp } from "./filter-help.tsx";

type Props = {
  /** The filter of the URL. */
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  /** The error of the list that was read with this filter. */
  readonly error: unknown;
};

const presets = [
  ["Active", "state = ACTIVE"],
  ["Failed", "state = ERROR"],
  ["Created in the last week", "created_at > -7d"],
  ["With failed trials", "trials_failed > 0"],
] as const;

/** The filter, with usual ones and the help on its language. */
export function FilterBar({ filter, onFilter, error }: Props): JSX.Element {
  const [isHelp, setHelp] = useState(false);
  return (
    <FilterField
      placeholder="Filter: resnet, state = ERROR, hparams.lr < 0.1 (press /)"
      {...{ filter, onFilter, error }}
    >
      <Menu
        align="end"
        trigger={<Button>Filters</Button>}
        groups={[
          presets.map(([title, preset]) => ({
            title,
            checked: filter === preset,
            onSelect: () => onFilter(filter === preset ? "" : preset),
          })),
          filter === "" ? [] : [{ title: "No filter", onSelect: () => onFilter("") }],
        ]}
      />
      <Button look="plain" aria-label="Help on filters" onClick={() => setHelp(true)}>
        <CircleQuestionMark size={16} aria-hidden />
      </Button>
      {isHelp && <FilterHelp onClose={() => setHelp(false)} />}
    </FilterField>
  );
}
