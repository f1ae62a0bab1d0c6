import { type QueryClient, useQuery } from "@tanstack/react-query";
import { type KeyedDocument, type Topic, topicKey } from "./protocol.ts";

const newsKey = (key: string): readonly string[] => ["news", key];
const none: readonly KeyedDocument[] = [];

/** Records a new row of a list that is not shown yet, or a later change of it. */
export function addNews(queries: QueryClient, news: KeyedDocument): void {
  const { id } = news.frame.value;
  queries.setQueryData<readonly KeyedDocument[]>(newsKey(news.key), (frames = none) => [
    ...frames.filter(({ frame }) => frame.value.id !== id),
    news,
  ]);
}

/** Removes and returns the new rows, oldest first. */
export function takeNews(queries: QueryClient, key: string): readonly KeyedDocument[] {
  const news = queries.getQueryData<readonly KeyedDocument[]>(newsKey(key)) ?? none;
  queries.setQueryData<readonly KeyedDocument[]>(newsKey(key), none);
  return news;
}

/** The number of rows that were added to the topic's list since it was read: "12 new, show". */
export function useNews(topic: Topic): number {
  const { data } = useQuery<readonly KeyedDocument[]>({
    queryKey: newsKey(topicKey(topic)),
    queryFn: () => none,
    initialData: none,
    enabled: false,
  });
  return data.length;
}
