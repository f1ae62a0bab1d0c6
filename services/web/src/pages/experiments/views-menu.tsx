import { type FormEvent, type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/field.tsx";
import { Menu } from "../../components/menu.tsx";
import { useSay } from "../../components/toasts.tsx";
import type { Search } from "./search.ts";
import { storedViews, storeViews, type View, withoutView, withView } from "./views.ts";

type Props = {
  readonly search: Search;
  readonly onOpen: (search: Search) => void;
};

/** Named views in this browser: filter, order, columns and place. */
export function ViewsMenu({ search, onOpen }: Props): JSX.Element {
  const [views, setViews] = useState(storedViews);
  const [name, setName] = useState<string | null>(null);
  const say = useSay();
  const keep = (next: readonly View[]): void => {
    storeViews(next);
    setViews(next);
  };
  const { at: _at, ...shown } = search;
  const open = views.find((view) => JSON.stringify(view.search) === JSON.stringify(shown));
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const given = (name ?? "").trim();
    if (given === "") return;
    keep(withView(views, given, search));
    setName(null);
    say.done(`The view ${given} is saved in this browser.`);
  };
  return (
    <>
      <Menu
        align="end"
        trigger={<Button>{open?.name ?? "Views"}</Button>}
        groups={[
          views.map((view) => ({
            title: view.name,
            checked: view === open,
            onSelect: () => onOpen(view.search),
          })),
          [
            { title: "Save this view…", onSelect: () => setName(open?.name ?? "") },
            ...(open === undefined
              ? []
              : [
                  {
                    title: `Delete ${open.name}`,
                    danger: true,
                    onSelect: () => keep(withoutView(views, open.name)),
                  },
                ]),
          ],
        ]}
      />
      <Dialog
        open={name !== null}
        onClose={() => setName(null)}
        title="Save this view"
        description="Filter, order, columns and place, in this browser. The page's address contains them too: a link shows others the same view."
        actions={
          <Button look="primary" type="submit" form="save-view">
            Save
          </Button>
        }
      >
        <form id="save-view" onSubmit={save}>
          <Field
            label="Name"
            value={name ?? ""}
            maxLength={60}
            onChange={(event) => setName(event.target.value)}
          />
        </form>
      </Dialog>
    </>
  );
}
