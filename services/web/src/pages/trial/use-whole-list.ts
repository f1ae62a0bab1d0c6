import { useEffect, useMemo } from "react";
import type { ReplyOf, RequestInitOf } from "@trainyard/contracts";
import { type CallOptions, type ListName, useList } from "../../app/calls.ts";

type ItemOf<Name extends ListName> =
  ReplyOf<Name> extends {
    readonly items: readonly (infer Item)[];
  }
    ? Item
    : never;

type WholeList<Name extends ListName> = {
  /** Undefined until the first page has come. */
  readonly rows: readonly ItemOf<Name>[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => Promise<unknown>;
  /** There are rows that were not read, or not yet. */
  readonly isPartial: boolean;
};

/** All rows of a list that is shown whole, read page by page, up to a number of pages. */
export function useWholeList<Name extends ListName>(
  name: Name,
  request: RequestInitOf<Name>,
  pagesMax: number,
  options: CallOptions = {},
): WholeList<Name> {
  const read = useList(name, request, options);
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = read;
  const pages = data?.pages.length ?? 0;
  const isWanted = hasNextPage && pages < pagesMax;
  useEffect(() => {
    if (isWanted && !isFetching) void fetchNextPage();
  }, [isWanted, isFetching, fetchNextPage]);
  const rows = useMemo(
    () =>
      data?.pages.flatMap(
        (page) => (page as unknown as { readonly items: readonly ItemOf<Name>[] }).items,
      ),
    [data],
  );
  return { rows, error, refetch, isPartial: hasNextPage };
}
