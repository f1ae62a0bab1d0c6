import { useEffect, useSyncExternalStore } from "react";
import { live } from "./connection.ts";
import { type LiveStatus, type Topic, topicKey } from "./protocol.ts";

/**
 * Follows a topic while the component is mounted, from the position of the read; undefined before the read has ended,
 * and empty for a read without a position.
 */
export function useTopic(topic: Topic | undefined, position: string | undefined): void {
  const key = topic === undefined ? "" : topicKey(topic);
  const isRead = position !== undefined;
  // Only the first position counts: a later read of the same list opens no new stream.
  useEffect(() => {
    if (key === "" || !isRead) return undefined;
    return live.follow(JSON.parse(key) as Topic, position);
  }, [key, isRead]);
}

export function useLiveStatus(): LiveStatus {
  return useSyncExternalStore(live.onStatus, live.status);
}
