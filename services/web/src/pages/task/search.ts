/** The address of a task's page: the tab and the parameters of its log. */
import { type LogSearch, logSearchOf } from "../../components/log-view/log-search.ts";

export const tabIds = ["logs", "terminal", "runs", "configuration"] as const;

export type TaskSearch = LogSearch & {
  /** The open tab; absent: the terminal of a shell, and else the log. */
  readonly tab?: (typeof tabIds)[number] | undefined;
};

export function taskSearchOf(search: Readonly<Record<string, unknown>>): TaskSearch {
  const tab = tabIds.find((id) => id === search["tab"]);
  return { ...(tab === undefined ? {} : { tab }), ...logSearchOf(search) };
}
