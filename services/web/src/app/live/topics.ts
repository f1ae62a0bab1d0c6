import { useQueryClient } from "@tanstack/react-query";
import type { RequestInitOf } from "@trainyard/contracts";
import { useEffect } from "react";
import { live } from "./connection.ts";
import { patch } from "./patch.ts";

/** A list or a document of the API's Watch call. */
export type Topic = NonNullable<RequestInitOf<"watch">["topics"]>[number];

/** Keeps what the query client has of a topic fresh while the component is mounted. */
export function useTopic(topic: Topic | undefined): void {
  const queries = useQueryClient();
  const key = topic === undefined ? "" : JSON.stringify(topic);
  useEffect(() => {
    if (key === "") return undefined;
    return live.subscribe(JSON.parse(key) as Topic, (frame) => patch(queries, frame));
  }, [key, queries]);
}
