/** The API's calls as hooks: what the server has said is in the query client under [name, request]. */
import {
  keepPreviousData,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { ReplyOf, RequestInitOf, UnaryName } from "@trainyard/contracts";
import { client } from "./client.ts";
import { type Topic, useTopic } from "./live/topics.ts";

export type CallOptions = {
  readonly enabled?: boolean;
  /** Frames of this topic keep the answer fresh while the component is mounted. */
  readonly watch?: Topic | undefined;
  /** Show the previous request's answer until this one's comes: for lists whose filter or page changes. */
  readonly keepPrevious?: boolean;
};

/** One read. Equal reads of several components are one request. */
export function useCall<Name extends UnaryName>(
  name: Name,
  request: RequestInitOf<Name>,
  { enabled = true, watch, keepPrevious = false }: CallOptions = {},
): UseQueryResult<ReplyOf<Name>> {
  useTopic(watch);
  return useQuery({
    queryKey: [name, request],
    queryFn: ({ signal }) => client.call(name, request, { signal }),
    enabled,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
}

export type Change<Name extends UnaryName> = {
  readonly request: RequestInitOf<Name>;
  /** The ETag that the user has seen: a change that somebody made since is not overwritten. */
  readonly ifMatch?: string;
};

/**
 * One change. It may be repeated without a second effect while the platform is away. Afterwards the reads named by
 * `refresh` are read again.
 */
export function useChange<Name extends UnaryName>(
  name: Name,
  refresh: readonly UnaryName[] = [],
): UseMutationResult<ReplyOf<Name>, Error, Change<Name>> {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ request, ifMatch }: Change<Name>) =>
      client.call(name, request, {
        idempotencyKey: crypto.randomUUID(),
        ...(ifMatch === undefined ? {} : { ifMatch }),
      }),
    onSuccess: () =>
      Promise.all(refresh.map((read) => queries.invalidateQueries({ queryKey: [read] }))),
  });
}
