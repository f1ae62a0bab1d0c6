import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Page } from "../../components/page/page.tsx";
import { Tabs } from "../../components/tabs.tsx";
import {
  type AsyncApi,
  callEntries,
  type Entry,
  eventEntries,
  matching,
  type OpenApi,
} from "./entries.ts";
import { EntryRow } from "./entry-row.tsx";
import styles from "./page.module.css";
import { referenceRoute } from "./route.ts";
import { tabIds } from "./search.ts";

const documents = {
  calls: { title: "Calls", file: "openapi.json" },
  events: { title: "Events", file: "asyncapi.json" },
} as const;

/** The documents of the API, drawn: every call, and every way by which events leave. */
export function ReferencePage(): JSX.Element {
  const { tab = "calls", q = "", at = "" } = referenceRoute.useSearch();
  const navigate = referenceRoute.useNavigate();
  const { file } = documents[tab];
  const read = useQuery({
    queryKey: ["document", file],
    staleTime: Infinity,
    queryFn: async () => {
      const answer = await fetch(`/api/v1/${file}`);
      if (!answer.ok) throw new Error(`${file} was answered with ${answer.status}`);
      return (await answer.json()) as OpenApi | AsyncApi;
    },
  });
  const entries = useMemo(() => (read.data === undefined ? [] : entriesOf(read.data)), [read.data]);
  const shown = useMemo(() => matching(entries, q), [entries, q]);
  const open = (id: string): void =>
    void navigate({
      search: (search) => ({ ...search, at: id === at ? undefined : id }),
      resetScroll: false,
    });
  return (
    <Page title="API">
      <Tabs
        label="Documents"
        tabs={tabIds.map((id) => ({ id, title: documents[id].title }))}
        value={tab}
        onChange={(id) => void navigate({ search: id === "events" ? { tab: id } : {} })}
      >
        <div className={styles["bar"]}>
          <input
            type="search"
            data-search
            className={styles["search"]}
            aria-label="Search"
            placeholder="Search paths, events, fields of messages"
            value={q}
            onChange={({ target }) =>
              void navigate({
                search: (search) => ({ ...search, q: target.value || undefined }),
                replace: true,
              })
            }
          />
          <span className={styles["count"]}>
            {shown.length === 1 ? "1 entry" : `${shown.length} entries`}
          </span>
          <a href={`/api/v1/${file}`}>{file}</a>
        </div>
        {read.error !== null && <ErrorNote error={read.error} />}
        {read.isSuccess && shown.length === 0 && <EmptyState title="No entry has these words." />}
        <Groups entries={shown} at={at} onOpen={open} tab={tab} />
      </Tabs>
    </Page>
  );
}

const entriesOf = (document: OpenApi | AsyncApi): readonly Entry[] =>
  "paths" in document ? callEntries(document) : eventEntries(document);

function Groups(props: {
  readonly entries: readonly Entry[];
  readonly at: string;
  readonly onOpen: (id: string) => void;
  readonly tab: (typeof tabIds)[number];
}): JSX.Element {
  const groups = Map.groupBy(props.entries, ({ group }) => group);
  return (
    <div className={styles["groups"]}>
      {[...groups].map(([group, entries]) => (
        <section key={group} aria-label={group}>
          <h2>{group}</h2>
          {entries.map((entry) => (
            <EntryRow
              key={entry.id}
              entry={entry}
              tab={props.tab}
              isOpen={entry.id === props.at}
              onOpen={() => props.onOpen(entry.id)}
            />
          ))}
        </section>
      ))}
    </div>
  );
}
