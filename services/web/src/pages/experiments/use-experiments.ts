import { useCallback, useMemo } from "react";
import { useList } from "../../data/calls.ts";
import { listNamed, useLastReply } from "../../data/last-reply.ts";
import { shownList } from "./list.ts";
import type { Search } from "./search.ts";

/** The loaded rows of the list, and the function that loads more. */
export function useExperiments(search: Search, attributes: readonly string[]) {
  const { request, live } = shownList(search, attributes);
  const list = useList("listExperiments", request, { ...live, keepPrevious: true });
  const { fetchNextPage, hasNextPage, isFetching } = list;
  const data = useLastReply(list, "experiments");
  const rows = useMemo(() => data?.pages.flatMap(({ items }) => items) ?? [], [data]);
  const first = data?.pages[0];
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return {
    list,
    name: listNamed(list, request),
    rows,
    more,
    // Rows change while the page is open, so the rows of a fully loaded list are counted.
    total: hasNextPage ? Math.max(first?.total ?? 0, rows.length) : rows.length,
    isEstimate: hasNextPage && first?.totalIsEstimate === true,
  };
}
