import { ChevronDown, ChevronRight, Plus } from "lucide-react";
import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { useOfferVerbs } from "../../components/page/verbs.tsx";
import { useList } from "../../data/calls.ts";
import { useMayAnywhere, useMayIn } from "../../data/may.ts";
import styles from "./page.module.css";
import { PlaceDialog } from "./place-dialog.tsx";
import { PlaceMenu } from "./place-menu.tsx";
import type { Place, PlaceDialogKind } from "./places.ts";
import type { Search, SearchChange } from "./search.ts";

type Props = {
  readonly search: Search;
  readonly onChange: (change: SearchChange) => void;
};

type TreeProps = Props & {
  /** In a narrow window the tree covers the list while it is open. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
};

/**
 * Workspaces and their projects: choosing one shows its experiments. They are created, described and archived here too.
 */
export function PlaceTree(props: TreeProps): JSX.Element {
  const { search, onChange, isOpen, onClose } = props;
  const [asked, setAsked] = useState<PlaceDialogKind | null>(null);
  const archived = search.archived ?? false;
  const workspaces = useList("listWorkspaces", { pageSize: 200, archived });
  const { workspace } = search;
  const mayCreate = useMayAnywhere()("createWorkspace");
  const mayIn = useMayIn(workspace ?? "");
  useOfferVerbs([
    ...(mayCreate ? [{ title: "New workspace", run: () => setAsked({ kind: "workspace" }) }] : []),
    ...(workspace === undefined || !mayIn("createProject")
      ? []
      : [
          {
            title: `New project in ${workspace}`,
            run: () => setAsked({ kind: "project", workspace }),
          },
        ]),
  ]);
  return (
    <nav
      className={styles["tree"]}
      aria-label="Workspaces and projects"
      data-open={isOpen}
      onKeyDown={({ key }) => {
        if (key === "Escape") onClose();
      }}
    >
      <ul>
        <li className={styles["row"]}>
          <Opener
            title="All workspaces"
            isHere={workspace === undefined}
            onOpen={() => onChange({ workspace: undefined, project: undefined })}
          />
          {mayCreate && (
            <Button
              look="plain"
              aria-label="New workspace"
              title="New workspace"
              onClick={() => setAsked({ kind: "workspace" })}
            >
              <Plus size={14} aria-hidden />
            </Button>
          )}
        </li>
        {workspaces.data?.pages
          .flatMap(({ items }) => items)
          .map((place) => (
            <Workspace key={place.name} {...{ place, search, onChange }} onAsk={setAsked} />
          ))}
      </ul>
      {workspaces.error !== null && <ErrorNote error={workspaces.error} />}
      {workspaces.hasNextPage && (
        <Button look="plain" onClick={() => void workspaces.fetchNextPage()}>
          More workspaces
        </Button>
      )}
      {asked !== null && (
        <PlaceDialog asked={asked} onClose={() => setAsked(null)} onMade={onChange} />
      )}
    </nav>
  );
}

type PlaceProps = Props & {
  readonly place: Place;
  readonly onAsk: (asked: PlaceDialogKind) => void;
};

function Workspace({ place, search, onChange, onAsk }: PlaceProps): JSX.Element {
  const { name } = place;
  const [isOpen, setOpen] = useState(search.workspace === name);
  const archived = search.archived ?? false;
  const projects = useList(
    "listProjects",
    { workspace: name, pageSize: 200, archived },
    { enabled: isOpen },
  );
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <span className={styles["row"]}>
        <button
          type="button"
          className={styles["fold"]}
          aria-expanded={isOpen}
          aria-label={`Projects of ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Chevron size={14} aria-hidden />
        </button>
        <Opener
          title={name}
          isArchived={place.archived}
          isHere={search.workspace === name && search.project === undefined}
          onOpen={() => onChange({ workspace: name, project: undefined })}
        />
        <PlaceMenu place={place} onAsk={onAsk} />
      </span>
      {isOpen && (
        <ul>
          {projects.data?.pages
            .flatMap(({ items }) => items)
            .map((project) => (
              <li key={project.name} className={styles["row"]}>
                <Opener
                  title={project.name}
                  isArchived={project.archived}
                  isHere={search.workspace === name && search.project === project.name}
                  onOpen={() => onChange({ workspace: name, project: project.name })}
                />
                {!place.archived && <PlaceMenu place={project} onAsk={onAsk} />}
              </li>
            ))}
          {projects.hasNextPage && (
            <li>
              <Button look="plain" onClick={() => void projects.fetchNextPage()}>
                More projects
              </Button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Opener(props: {
  readonly title: string;
  readonly isHere: boolean;
  readonly isArchived?: boolean;
  readonly onOpen: () => void;
}): JSX.Element {
  const { title, isHere, isArchived = false, onOpen } = props;
  return (
    <button
      type="button"
      className={styles["place"]}
      title={title}
      {...(isHere ? { "aria-current": true } : {})}
      onClick={onOpen}
    >
      {title}
      {isArchived && <span className={styles["archived"]}> archived</span>}
    </button>
  );
}
