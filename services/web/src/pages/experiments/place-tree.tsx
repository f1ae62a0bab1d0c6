import { ChevronDown, ChevronRight } from "lucide-react";
import { type JSX, useState } from "react";
import { useCall, useList } from "../../app/calls.ts";
import type { SearchChange, Search } from "./search.ts";
import styles from "./page.module.css";

type Props = {
  readonly search: Search;
  readonly onChange: (change: SearchChange) => void;
};

/** Workspaces and their projects: choosing one shows its experiments. */
export function PlaceTree({ search, onChange }: Props): JSX.Element {
  const workspaces = useList("listWorkspaces", { pageSize: 200 });
  const names = workspaces.data?.pages.flatMap(({ items }) => items.map(({ name }) => name)) ?? [];
  return (
    <nav className={styles["tree"]} aria-label="Workspaces and projects">
      <ul>
        <li>
          <Place
            title="All workspaces"
            isHere={search.workspace === undefined}
            onOpen={() => onChange({ workspace: undefined, project: undefined })}
          />
        </li>
        {names.map((name) => (
          <Workspace key={name} name={name} search={search} onChange={onChange} />
        ))}
      </ul>
      {workspaces.hasNextPage && (
        <button
          type="button"
          className={styles["more"]}
          onClick={() => void workspaces.fetchNextPage()}
        >
          More workspaces
        </button>
      )}
    </nav>
  );
}

function Workspace({ name, search, onChange }: Props & { readonly name: string }): JSX.Element {
  const [isOpen, setOpen] = useState(search.workspace === name);
  const projects = useCall("listProjects", { workspace: name, pageSize: 200 }, { enabled: isOpen });
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  return (
    <li>
      <span className={styles["workspace"]}>
        <button
          type="button"
          className={styles["fold"]}
          aria-expanded={isOpen}
          aria-label={`Projects of ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Chevron size={14} aria-hidden />
        </button>
        <Place
          title={name}
          isHere={search.workspace === name && search.project === undefined}
          onOpen={() => onChange({ workspace: name, project: undefined })}
        />
      </span>
      {isOpen && (
        <ul>
          {projects.data?.items.map(({ name: project }) => (
            <li key={project}>
              <Place
                title={project}
                isHere={search.workspace === name && search.project === project}
                onOpen={() => onChange({ workspace: name, project })}
              />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Place(props: {
  readonly title: string;
  readonly isHere: boolean;
  readonly onOpen: () => void;
}): JSX.Element {
  const { title, isHere, onOpen } = props;
  return (
    <button
      type="button"
      className={styles["place"]}
      title={title}
      {...(isHere ? { "aria-current": true } : {})}
      onClick={onOpen}
    >
      {title}
    </button>
  );
}
