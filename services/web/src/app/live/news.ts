import { type QueryClient, useQuery } from "@tanstack/react-query";
import { type KeyedDocument, type Topic, topicKey } from "./protocol.ts";

const newsKey = (key: string): readonly string[] => ["news", key];
const none: readonly KeyedDocument[] = [];

/** A row that has come into a list and is not shown yet, or has changed since. */
export function addNews(queries: QueryClient, news: KeyedDocument): void {
  const { id } = news.frame.value;
  queries.setQueryData<readonly KeyedDocument[]>(newsKey(news.key), (frames = none) => [
    ...frames.filter(({ frame }) => frame.value.id !== id),
    news,
  ]);
}

/** Removes and returns them, oldest first. */
export function takeNews(queries: QueryClient, key: string): readonly KeyedDocument[] {
  const news = queries.getQueryData<readonly KeyedDocument[]>(newsKey(key)) ?? none;
  queries.setQueryData<readonly KeyedDocument[]>(newsKey(key), none);
  return news;
}

/** How many rows have come into the list of the topic since it was read: "12 new, show". */
export function useNews(topic: Topic): number {
  const { data } = useQuery<readonly KeyedDocument[]>({
    queryKey: newsKey(topicKey(topic)),
    queryFn: () => none,
    initialData: none,
    enabled: false,
  });
  return data.length;
}
