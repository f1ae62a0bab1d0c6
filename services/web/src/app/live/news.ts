import { type QueryClient, useQuery } from "@tanstack/react-query";
import { type Topic, topicKey } from "./protocol.ts";

const newsKey = (key: string): readonly string[] => ["news", key];
const none: readonly string[] = [];

/** Rows that have come into a list and are not shown yet. */
export function addNews(queries: QueryClient, key: string, id: string): void {
  queries.setQueryData<readonly string[]>(newsKey(key), (ids = none) =>
    ids.includes(id) ? ids : [...ids, id],
  );
}

export function clearNews(queries: QueryClient, key: string): void {
  queries.setQueryData<readonly string[]>(newsKey(key), none);
}

/** How many rows have come into the list of the topic since it was read: "12 new, show". */
export function useNews(topic: Topic): number {
  const { data } = useQuery<readonly string[]>({
    queryKey: newsKey(topicKey(topic)),
    queryFn: () => none,
    initialData: none,
    enabled: false,
  });
  return data.length;
}
