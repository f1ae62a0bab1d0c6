import { getRouteApi } from "@tanstack/react-router";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { CodeText } from "../../components/code-text.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { bytes } from "../../components/format.ts";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall, useList } from "../../data/calls.ts";
import type { TabProps } from "./tabs.ts";
import styles from "./texts.module.css";

const route = getRouteApi("/experiments/$experiment");

/** The files of the experiment's code, and the text of the chosen one. */
export function CodeTab({ experiment: { id } }: TabProps): JSX.Element {
  const { file } = route.useSearch();
  const navigate = route.useNavigate();
  const files = useList("listCodeFiles", { experiment: id, pageSize: 1_000 });
  const rows = files.data?.pages.flatMap(({ items }) => items) ?? [];
  if (files.error !== null) return <ErrorNote error={files.error} />;
  if (files.isPending) return <LoadingText label="the files" />;
  if (rows.length === 0) {
    return (
      <EmptyState title="This experiment has no code." command={`yard experiment describe ${id}`}>
        Its entrypoint runs software that is installed on the agents.
      </EmptyState>
    );
  }
  const chosen = file ?? rows.find(({ path }) => path.endsWith(".py"))?.path ?? rows[0]?.path ?? "";
  return (
    <div className={styles["split"]}>
      <nav className={styles["files"]} aria-label="Files">
        <a href={`/api/v1/experiments/${id}/code`} download>
          Download all
        </a>
        <ul>
          {rows.map(({ path, bytes: size, link }) => (
            <li key={path}>
              <button
                type="button"
                aria-current={path === chosen}
                onClick={() =>
                  void navigate({ search: (old) => ({ ...old, file: path }), replace: true })
                }
              >
                <span>{path}</span>
                <span className={styles["muted"]}>{link === "" ? bytes(size) : `→ ${link}`}</span>
              </button>
            </li>
          ))}
        </ul>
        {files.hasNextPage && (
          <Button onClick={() => void files.fetchNextPage()}>Show more files</Button>
        )}
      </nav>
      <CodeFile experiment={id} path={chosen} />
    </div>
  );
}

function CodeFile(props: { readonly experiment: string; readonly path: string }): JSX.Element {
  const { experiment, path } = props;
  const file = useCall("getCodeFile", { experiment, path }, { keepPrevious: true });
  if (file.error !== null) return <ErrorNote error={file.error} />;
  if (file.data === undefined) return <LoadingText label={path} />;
  if (file.data.binary) return <EmptyState title={`${path} is not a text.`} />;
  return (
    <div className={styles["content"]}>
      {file.data.truncated && <p className={styles["muted"]}>The first MiB of the file.</p>}
      <CodeText label={path} text={file.data.text} />
    </div>
  );
}
