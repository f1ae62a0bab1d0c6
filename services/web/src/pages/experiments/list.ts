/** The list that an address shows. */
import type { Topic } from "../../app/live/protocol.ts";
import { type Search, topicFilter } from "./search.ts";

const pageSize = 200;

/** The request of the list, without its page. */
export function listRequest(search: Search, attributes: readonly string[]) {
  const { filter = "", sort = "", workspace = "", project = "", archived = false } = search;
  return { filter, orderBy: sort, workspace, project, archived, fields: [...attributes] };
}

/** The request of the rows that are shown, and the topic that keeps them fresh. */
export function shownList(search: Search, attributes: readonly string[]) {
  const topic: Topic = {
    kind: "experiments",
    filter: topicFilter(search),
    archived: search.archived ?? false,
  };
  return { request: { ...listRequest(search, attributes), pageSize, count: true }, topic };
}
