/** The list that an address shows. */
import type { ListOptions } from "../../data/calls.ts";
import type { Topic } from "../../data/live/protocol.ts";
import { type Search, topicFilter } from "./search.ts";

const pageSize = 200;
/** More rows than most windows show: reading and sending them takes half as long. */
const firstPageSize = 50;

/** The request of the list, without its page. */
export function listRequest(search: Search, attributes: readonly string[]) {
  const { filter = "", sort = "", workspace = "", project = "", archived = false } = search;
  return { filter, orderBy: sort, workspace, project, archived, fields: [...attributes] };
}

/** The request of the shown rows, and the topic and the order that keep them fresh. */
export function shownList(search: Search, attributes: readonly string[]) {
  const topic: Topic = {
    kind: "experiments",
    filter: topicFilter(search),
    archived: search.archived ?? false,
  };
  // Frames have no hyperparameters and metrics.
  const isPlain = (search.sort ?? "") === "" && attributes.length === 0;
  const order = isPlain ? "newest first" : undefined;
  const live: ListOptions = { watch: topic, follow: true, order, firstPageSize };
  return { request: { ...listRequest(search, attributes), pageSize, count: true }, live };
}
