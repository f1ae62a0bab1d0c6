import { useCallback, useMemo } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useList } from "../../app/calls.ts";
import { clearNews, useNews } from "../../app/live/news.ts";
import { type Topic, topicKey } from "../../app/live/protocol.ts";
import { type Search, topicFilter } from "./search.ts";

const pageSize = 200;

/** The request of the list, without its page. */
export function listRequest(search: Search, attributes: readonly string[]) {
  const { filter = "", sort = "", workspace = "", project = "", archived = false } = search;
  return { filter, orderBy: sort, workspace, project, archived, fields: [...attributes] };
}

/** The rows of the list that are loaded, and how to load more. */
export function useExperiments(search: Search, attributes: readonly string[]) {
  const queries = useQueryClient();
  const topic: Topic = {
    kind: "experiments",
    filter: topicFilter(search),
    archived: search.archived ?? false,
  };
  const list = useList(
    "listExperiments",
    { ...listRequest(search, attributes), pageSize, count: true },
    { watch: topic, keepPrevious: true },
  );
  const { data, refetch, fetchNextPage, hasNextPage, isFetching } = list;
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const first = data?.pages[0];
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const key = topicKey(topic);
  const showNews = useCallback(() => {
    clearNews(queries, key);
    void refetch();
  }, [queries, key, refetch]);
  return {
    list,
    rows,
    more,
    news: useNews(topic),
    showNews,
    // Rows come and go while the page is open: what is loaded to its end is counted, not asked.
    total: hasNextPage ? Math.max(first?.total ?? 0, rows.length) : rows.length,
    isEstimate: hasNextPage && first?.totalIsEstimate === true,
  };
}
