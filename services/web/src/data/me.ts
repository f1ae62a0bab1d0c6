/** The caller, with its roles and permissions: read once, and again when the live stream took or gave something. */
import type { QueryClient, UseQueryResult } from "@tanstack/react-query";
import type { Rights } from "@trainyard/access";
import type { ReplyOf } from "@trainyard/contracts";
import { useMemo } from "react";
import { useCall } from "./calls.ts";
import { rightsOfMe } from "./rights.ts";

export type Me = ReplyOf<"getMe">;

export const useMe = (): UseQueryResult<Me> => useCall("getMe", {});

/** The caller's rights. They decide only what pages show; the gateway decides what is done. */
export function useRights(): Rights {
  const { data } = useMe();
  return useMemo(() => rightsOfMe(data), [data]);
}

/** Lists that no topic keeps up to date, and that have other rows under other rights. */
const listsOfRights = ["listWorkspaces", "listProjects", "listGrants"] as const;

/** Reads lists again once the caller's rights have changed. */
export function followRights(queries: QueryClient): void {
  const seen = new WeakMap<object, unknown>();
  queries.getQueryCache().subscribe(({ type, query }) => {
    if (type !== "updated" || query.queryKey[0] !== "getMe") return;
    const { data } = query.state;
    const before = seen.get(query);
    seen.set(query, data);
    if (before === undefined || before === data) return;
    for (const list of listsOfRights) void queries.invalidateQueries({ queryKey: [list] });
  });
}
