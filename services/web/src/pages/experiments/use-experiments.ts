import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { useList } from "../../data/calls.ts";
import { useNews } from "../../data/live/news.ts";
import { showNews } from "../../data/live/patch.ts";
import { topicKey } from "../../data/live/protocol.ts";
import { shownList } from "./list.ts";
import type { Search } from "./search.ts";

/** The loaded rows of the list, and the function that loads more. */
export function useExperiments(search: Search, attributes: readonly string[]) {
  const queries = useQueryClient();
  const { request, topic, live } = shownList(search, attributes);
  const list = useList("listExperiments", request, { ...live, keepPrevious: true });
  const { data, fetchNextPage, hasNextPage, isFetching } = list;
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const first = data?.pages[0];
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const key = topicKey(topic);
  return {
    list,
    rows,
    more,
    news: useNews(topic),
    showNews: useCallback(() => showNews(queries, key), [queries, key]),
    // Rows change while the page is open, so the rows of a fully loaded list are counted.
    total: hasNextPage ? Math.max(first?.total ?? 0, rows.length) : rows.length,
    isEstimate: hasNextPage && first?.totalIsEstimate === true,
  };
}
