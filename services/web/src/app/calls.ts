/** The API's calls as hooks: what the server has said is in the query client under [name, request]. */
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { ReplyOf, RequestInitOf, UnaryName } from "@trainyard/contracts";
import { useState } from "react";
import { Attempts } from "./attempts.ts";
import { client } from "./client.ts";
import { clock } from "./clock.ts";
import type { LiveMeta } from "./live/patch.ts";
import { type Topic, topicKey } from "./live/protocol.ts";
import type { RowOrder } from "./live/rows.ts";
import { useTopic } from "./live/topics.ts";

export type CallOptions = {
  readonly enabled?: boolean;
  /** Frames of this topic keep the answer fresh while the component is mounted. */
  readonly watch?: Topic | undefined;
  /** Rows that come into the list appear by themselves; otherwise useNews counts them. */
  readonly follow?: boolean;
  /** The order of the list, where it is that of creation: rows that come are then inserted, without a read. */
  readonly order?: RowOrder | undefined;
  /** Rows of the first page of a list, where it is smaller than the others: it is there sooner. */
  readonly firstPageSize?: number;
  /** Ask again whenever a component shows it, and keep nothing: for previews of changes. */
  readonly fresh?: boolean;
  /** Show the previous request's answer until this one's comes: for lists whose filter or page changes. */
  readonly keepPrevious?: boolean;
};

/** How a list is read and kept fresh. */
export type ListOptions = Pick<CallOptions, "watch" | "follow" | "order" | "firstPageSize">;

/** One read. Equal reads of several components are one request. */
export function useCall<Name extends UnaryName>(
  name: Name,
  request: RequestInitOf<Name>,
  { enabled = true, fresh = false, keepPrevious = false, ...live }: CallOptions = {},
): UseQueryResult<ReplyOf<Name>> {
  const read = useQuery({
    queryKey: [name, request],
    queryFn: ({ signal }) => client.call(name, request, { signal }),
    enabled,
    ...freshness(live, (answer) => answer),
    ...(fresh ? { gcTime: 0, staleTime: 0, refetchOnMount: "always" as const } : {}),
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
  const position = read.isPlaceholderData ? undefined : positionOf(read.data);
  useTopic(enabled ? live.watch : undefined, position);
  return read;
}

/** The same read of several things. */
export function useCalls<Name extends UnaryName>(
  name: Name,
  requests: readonly RequestInitOf<Name>[],
): readonly (ReplyOf<Name> | undefined)[] {
  const reads = useQueries({
    queries: requests.map((request) => ({
      queryKey: [name, request],
      queryFn: ({ signal }: { signal: AbortSignal }) => client.call(name, request, { signal }),
    })),
  });
  return reads.map(({ data }) => data);
}

/** Calls that answer a page of a list. */
export type ListName = {
  [Name in UnaryName]: ReplyOf<Name> extends {
    readonly items: readonly unknown[];
    readonly nextPageToken: string;
  }
    ? RequestInitOf<Name> extends { pageToken?: string }
      ? Name
      : never
    : never;
}[UnaryName];

type PageOf<Name extends ListName> = ReplyOf<Name> & { readonly nextPageToken: string };

/** A list of any length, page by page: `fetchNextPage` reads the next one. */
export function useList<Name extends ListName>(
  name: Name,
  request: RequestInitOf<Name>,
  { enabled = true, keepPrevious = false, ...live }: CallOptions = {},
): UseInfiniteQueryResult<InfiniteData<ReplyOf<Name>, string>> {
  const read = useInfiniteQuery({
    ...listOptions(name, request, live),
    enabled,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
  const first = read.isPlaceholderData ? undefined : read.data?.pages[0];
  useTopic(enabled ? live.watch : undefined, positionOf(first));
  return read;
}

/** Begins to read a list before its component does: an address is known sooner than the code of its page is there. */
export function preloadList<Name extends ListName>(
  queries: QueryClient,
  name: Name,
  request: RequestInitOf<Name>,
  live: ListOptions,
): void {
  void queries.prefetchInfiniteQuery(listOptions(name, request, live));
}

function listOptions<Name extends ListName>(
  name: Name,
  request: RequestInitOf<Name>,
  live: ListOptions,
) {
  const { firstPageSize } = live;
  const sizeOf = (pageToken: string) =>
    pageToken !== "" || firstPageSize === undefined ? {} : { pageSize: firstPageSize };
  return infiniteQueryOptions<
    ReplyOf<Name>,
    Error,
    InfiniteData<ReplyOf<Name>, string>,
    readonly unknown[],
    string
  >({
    queryKey: [name, request, "pages"],
    initialPageParam: "",
    queryFn: ({ signal, pageParam }) =>
      client.call(name, { ...request, ...sizeOf(pageParam), pageToken: pageParam }, { signal }),
    getNextPageParam: (page) => (page as PageOf<Name>).nextPageToken || undefined,
    ...freshness(live, (answer) => (answer as { pages?: unknown[] }).pages?.[0]),
  });
}

/**
 * A followed read that has a position is brought up to date from there; one without is read again when a component
 * shows it.
 */
function freshness(
  { watch, follow = false, order }: ListOptions,
  placed: (answer: unknown) => unknown,
) {
  const live: LiveMeta | undefined =
    watch === undefined ? undefined : { topic: topicKey(watch), follow, order };
  return {
    ...(live === undefined ? {} : { meta: { live } }),
    refetchOnMount: (query: { readonly state: { readonly data: unknown } }) => {
      const answer = query.state.data;
      return answer === undefined || positionOf(placed(answer)) === "" ? "always" : true;
    },
  } as const;
}

/** Undefined until there is an answer, empty for an answer without a position. */
function positionOf(answer: unknown): string | undefined {
  if (answer === undefined) return undefined;
  const { position } = answer as { readonly position?: unknown };
  return typeof position === "string" ? position : "";
}

export type Change<Name extends UnaryName> = {
  readonly request: RequestInitOf<Name>;
  /** The ETag that the user has seen: a change that somebody made since is not overwritten. */
  readonly ifMatch?: string;
};

/**
 * One change. It may be repeated without a second effect while the platform is away, and by the user until its outcome
 * is known. Afterwards the reads named by `refresh` are read again.
 */
export function useChange<Name extends UnaryName>(
  name: Name,
  refresh: readonly UnaryName[] = [],
): UseMutationResult<ReplyOf<Name>, Error, Change<Name>> {
  const queries = useQueryClient();
  const [attempts] = useState(() => new Attempts());
  return useMutation({
    mutationFn: async ({ request, ifMatch }: Change<Name>) => {
      const text = JSON.stringify([name, request, ifMatch]);
      const options = {
        idempotencyKey: attempts.keyOf(text, clock.nowMs()),
        ...(ifMatch === undefined ? {} : { ifMatch }),
      };
      try {
        const answer = await client.call(name, request, options);
        attempts.ended(text, null);
        return answer;
      } catch (error) {
        attempts.ended(text, error);
        throw error;
      }
    },
    onSuccess: () =>
      Promise.all(refresh.map((read) => queries.invalidateQueries({ queryKey: [read] }))),
  });
}
