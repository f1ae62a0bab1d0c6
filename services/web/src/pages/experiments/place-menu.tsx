import { Ellipsis } from "lucide-react";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { Menu, type MenuItem } from "../../components/menu.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { useMayIn } from "../../data/may.ts";
import { useMe } from "../../data/me.ts";
import styles from "./page.module.css";
import { isDefault, namesOf, type Place, type PlaceDialogKind, placeText } from "./places.ts";

type Props = { readonly place: Place; readonly onAsk: (asked: PlaceDialogKind) => void };

const refresh = ["listWorkspaces", "listProjects"] as const;

/** The verbs of a workspace or a project that the caller may use; the default project has none. */
export function PlaceMenu({ place, onAsk }: Props): JSX.Element | null {
  const { workspace, project } = namesOf(place);
  const { run, isPending } = useArchiving(place);
  const may = useMayIn(workspace);
  const isWorkspace = project === undefined;
  const hasUsers = useMe().data?.hasUsers === true;
  const items: readonly MenuItem[] = [
    ...(isWorkspace && !place.archived && may("createProject")
      ? [{ title: "New project", onSelect: () => onAsk({ kind: "project", workspace }) }]
      : []),
    ...(isWorkspace && hasUsers
      ? [{ title: "Members", onSelect: () => onAsk({ kind: "members", workspace }) }]
      : []),
  ];
  const mayDescribe = may(isWorkspace ? "updateWorkspace" : "updateProject");
  const mayArchive = may(isWorkspace ? "archiveWorkspace" : "archiveProject");
  const archiving = { title: place.archived ? "Unarchive" : "Archive", onSelect: run };
  const changes: readonly MenuItem[] = isDefault(place)
    ? []
    : [
        ...(mayDescribe
          ? [{ title: "Describe", onSelect: () => onAsk({ kind: "describe", place }) }]
          : []),
        ...(mayArchive ? [{ ...archiving, disabled: isPending }] : []),
      ];
  if (items.length + changes.length === 0) return null;
  return (
    <Menu
      groups={[items, changes]}
      trigger={
        <Button
          look="plain"
          className={styles["placeMenu"]}
          aria-label={`More of ${placeText(place)}`}
        >
          <Ellipsis size={14} aria-hidden />
        </Button>
      }
    />
  );
}

/** Archives or unarchives the place, and shows the outcome. */
function useArchiving(place: Place): { readonly run: () => void; readonly isPending: boolean } {
  const say = useSay();
  const archiveWorkspace = useChange("archiveWorkspace", refresh);
  const unarchiveWorkspace = useChange("unarchiveWorkspace", refresh);
  const archiveProject = useChange("archiveProject", refresh);
  const unarchiveProject = useChange("unarchiveProject", refresh);
  const changes = [archiveWorkspace, unarchiveWorkspace, archiveProject, unarchiveProject];
  const run = (): void => {
    const { workspace, project } = namesOf(place);
    const done = place.archived
      ? "is shown in lists again"
      : "is archived: it takes no new experiments";
    const isArchived = place.archived;
    const changed =
      project === undefined
        ? (isArchived ? unarchiveWorkspace : archiveWorkspace).mutateAsync({
            request: { workspace },
          })
        : (isArchived ? unarchiveProject : archiveProject).mutateAsync({
            request: { workspace, project },
          });
    // A promise is needed: callbacks of `mutate` are dropped once the row of this menu has left the tree.
    void changed.then(() => say.done(`The ${placeText(place)} ${done}.`), say.failed);
  };
  return { run, isPending: changes.some(({ isPending }) => isPending) };
}
