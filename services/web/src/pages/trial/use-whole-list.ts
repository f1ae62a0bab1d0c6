import type { ReplyOf, RequestInitOf } from "@trainyard/contracts";
import { useEffect, useMemo } from "react";
import { type CallOptions, type ListName, useList } from "../../data/calls.ts";

type ItemOf<Name extends ListName> =
  ReplyOf<Name> extends {
    readonly items: readonly (infer Item)[];
  }
    ? Item
    : never;

type WholeList<Name extends ListName> = {
  /** The rows; undefined until the first page has been read. */
  readonly rows: readonly ItemOf<Name>[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => Promise<unknown>;
  /** Some rows have not been read. */
  readonly isPartial: boolean;
};

/** Reads all rows of a list that is shown whole, page by page, up to a maximum of pages. */
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
