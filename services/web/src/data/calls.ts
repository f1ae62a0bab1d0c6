/** The API's calls as hooks. The query client caches each answer under [name, request]. */
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
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
  /** New rows are added to the list. */
  readonly follow?: boolean;
  /** The order of the list, if it is the order of creation: new rows are then inserted without another read. */
  readonly order?: RowOrder | undefined;
  /** Frames repeat the read at most this often: for answers that cost the server much. */
  readonly readAgainMs?: number;
  /** Rows on the first page of a list, if it is smaller than the others so that it arrives sooner. */
  readonly firstPageSize?: number;
  /** The call is repeated whenever a component shows it, and its answer is not cached: for previews of changes. */
  readonly fresh?: boolean;
  /**
   * The call is repeated at this interval while a component shows it and the page is visible: for what no frame tells.
   * A call that failed is not retried before.
   */
  readonly everyMs?: number;
  /** The previous request's answer is shown until the new one arrives: for lists whose filter or page changes. */
  readonly keepPrevious?: boolean;
};

/** Options for reading a list and keeping it fresh. */
export type ListOptions = Pick<
  CallOptions,
  "watch" | "follow" | "order" | "readAgainMs" | "firstPageSize"
>;

/** Makes one read. Equal reads of several components are one request. */
export function useCall<Name extends UnaryName>(
  name: Name,
  request: RequestInitOf<Name>,
  { enabled = true, fresh = false, keepPrevious = false, everyMs, ...live }: CallOptions = {},
): UseQueryResult<ReplyOf<Name>> {
  const read = useQuery({
    ...callOptions(name, request, live),
    enabled,
    ...(fresh ? { gcTime: 0, staleTime: 0, refetchOnMount: "always" as const } : {}),
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs, retry: false }),
  });
  const position = read.isPlaceholderData ? undefined : positionOf(read.data);
  useTopic(enabled ? live.watch : undefined, position);
  return read;
}

/** Starts a read before its component exists: the address is known before the page's code is loaded. */
export function preloadCall<Name extends UnaryName>(
  queries: QueryClient,
  name: Name,
  request: RequestInitOf<Name>,
  live: ListOptions,
): void {
  void queries.prefetchQuery(callOptions(name, request, live));
}

function callOptions<Name extends UnaryName>(
  name: Name,
  request: RequestInitOf<Name>,
  live: ListOptions,
) {
  return queryOptions<ReplyOf<Name>, Error, ReplyOf<Name>, readonly unknown[]>({
    queryKey: [name, request],
    queryFn: ({ signal }) => client.call(name, request, { signal }),
    ...freshness(live, (answer) => answer),
  });
}

/** Makes the same read for several requests, and returns their answers. */
export function useCalls<Name extends UnaryName>(
  name: Name,
  requests: readonly RequestInitOf<Name>[],
): readonly (ReplyOf<Name> | undefined)[] {
  return useReads(name, requests).map(({ data }) => data);
}

/** Makes the same read for several requests. */
export function useReads<Name extends UnaryName>(
  name: Name,
  requests: readonly RequestInitOf<Name>[],
): readonly UseQueryResult<ReplyOf<Name>>[] {
  return useQueries({
    queries: requests.map((request) => ({
      queryKey: [name, request],
      queryFn: ({ signal }: { signal: AbortSignal }) => client.call(name, request, { signal }),
    })),
  });
}

/** Calls that return a page of a list. */
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

/** Reads a list of any length, page by page: `fetchNextPage` reads the next page. */
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

/** Starts reading a list before its component exists: the address is known before the page's code is loaded. */
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
 * A followed read with a position is updated from there; a read without a position is repeated when a component shows
 * it.
 */
function freshness(
  { watch, follow = false, order, readAgainMs }: ListOptions,
  placed: (answer: unknown) => unknown,
) {
  const live: LiveMeta | undefined =
    watch === undefined ? undefined : { topic: topicKey(watch), follow, order, readAgainMs };
  return {
    ...(live === undefined ? {} : { meta: { live } }),
    refetchOnMount: (query: { readonly state: { readonly data: unknown } }) => {
      const answer = query.state.data;
      return answer === undefined || positionOf(placed(answer)) === "" ? "always" : true;
    },
  } as const;
}

/** Returns undefined without an answer, and an empty text for an answer without a position. */
function positionOf(answer: unknown): string | undefined {
  if (answer === undefined) return undefined;
  const { position } = answer as { readonly position?: unknown };
  return typeof position === "string" ? position : "";
}

export type Change<Name extends UnaryName> = {
  readonly request: RequestInitOf<Name>;
  /** The ETag that the user has seen, so that a newer change by someone else is not overwritten. */
  readonly ifMatch?: string;
};

/**
 * Makes one change. It is retried without a second effect while the platform is unavailable, and may be retried by the
 * user until its outcome is known. Then the reads named by `refresh` are repeated.
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
