/**
 * The users of stored content: experiments that are not deleted for good, tasks that are not deleted, and model
 * versions with code.
 */
import { type AnyEvent, shortNameOf } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf, parseTrialId } from "@trainyard/kernel";
import { type Content, contentId } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { versionKey } from "./core/views/documents.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

export const contentUsesTable = "content_uses";

const concerned: ReadonlySet<string> = new Set([
  "ExperimentCreated",
  "ExperimentDeleted",
  "EnvironmentRecorded",
  "VersionRegistered",
  "VersionRemoved",
  "TaskCreated",
  "TaskDeleted",
  // The event changes no row, but moves the cursor of the view, for which `isContentUsed` waits.
  "ContentDeletionStarted",
]);

export const concernsContents = ({ type }: StoredEvent): boolean =>
  concerned.has(shortNameOf(type));

/** Whether an event may end the last use of stored contents. */
export function mayFreeContents({ type }: StoredEvent): boolean {
  return freeing.has(shortNameOf(type));
}

const freeing: ReadonlySet<string> = new Set([
  "ExperimentDeleted",
  "VersionRemoved",
  "TaskDeleted",
]);

const taskUser = (task: string): string => `task-${task}`;
const experimentUser = (experiment: string): string => `experiment-${experiment}`;
const versionUser = (model: string, number: number): string =>
  `version-${versionKey(model, number)}`;

/** Updates the rows of a table of uses for an event. */
export async function applyToContentUses(
  client: Queryable,
  table: string,
  stream: string,
  event: AnyEvent,
): Promise<void> {
  const add = (contents: readonly Content[], user: string) =>
    client.query(
      `insert into ${table} (content, used_by) select unnest($1::text[]), $2 on conflict do nothing`,
      [contents.filter(({ digest }) => digest !== "").map(contentId), user],
    );
  const remove = (user: string) => client.query(`delete from ${table} where used_by = $1`, [user]);
  switch (event.type) {
    case "ExperimentCreated":
      await add(contentsOf(event.data), experimentUser(idOf(stream)));
      break;
    case "EnvironmentRecorded":
      await add([environmentOf(event.data.digest)], experimentUser(idOf(stream)));
      break;
    case "ExperimentDeleted":
      await remove(experimentUser(idOf(stream)));
      break;
    case "TaskCreated":
      await add([contextOf(event.data.contextDigest)], taskUser(idOf(stream)));
      break;
    case "TaskDeleted":
      await remove(taskUser(idOf(stream)));
      break;
    case "VersionRegistered": {
      const experiment = parseTrialId(event.data.trial)?.experiment ?? "";
      await client.query(
        `insert into ${table} (content, used_by)
         select content, $1 from ${table} where used_by = $2 and content like 'contexts.%'
         on conflict do nothing`,
        [versionUser(idOf(stream), event.data.number), experimentUser(experiment)],
      );
      break;
    }
    case "VersionRemoved":
      await remove(versionUser(idOf(stream), event.data.number));
      break;
    default:
  }
}

/** Returns the contents that the creation of an experiment names. */
export function contentsOf(created: {
  readonly contextDigest: string;
  readonly submissionDigest: string;
}): readonly Content[] {
  return [
    contextOf(created.contextDigest),
    { folder: "submissions", digest: created.submissionDigest },
  ];
}

export const contextOf = (digest: string): Content => ({ folder: "contexts", digest });

export const environmentOf = (digest: string): Content => ({ folder: "environments", digest });

/**
 * Whether anything names the content at the position or later. Null if the rows may be incomplete: they are behind, are
 * being rebuilt, or lack an event of a set-aside stream. Rows and cursor are read in one statement, because another
 * process may empty the tables at any time.
 */
export async function isContentUsed(
  client: Queryable,
  content: Content,
  position: number,
  viewVersion: number,
): Promise<boolean | null> {
  const { rows } = await client.query<{ used: boolean; known: boolean }>(
    `select exists (select from gateway.${contentUsesTable} where content = $1) as used,
       exists (
         select from gateway.view_cursor
         where view = 'documents' and position >= $2 and version = $3
           and not exists (select from gateway.view_set_aside where view = 'documents')
       ) as known`,
    [contentId(content), position, viewVersion],
  );
  const [row] = rows;
  return row?.known === true ? row.used : null;
}
