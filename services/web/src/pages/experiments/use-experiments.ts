import { useCallback, useMemo } from "react";
import { listTotal } from "../../components/list-total.ts";
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
    total: listTotal(first, rows.length, hasNextPage),
  };
}
