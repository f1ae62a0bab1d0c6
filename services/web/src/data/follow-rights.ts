import type { Query, QueryClient } from "@tanstack/react-query";

/** Lists that no topic keeps up to date, and that have other rows under other rights. */
const listsOfRights = ["listWorkspaces", "listProjects", "listGrants"] as const;

/** Reads lists again once the caller's rights have changed. */
export function followRights(queries: QueryClient): void {
  const seen = new WeakMap<object, unknown>();
  queries.getQueryCache().subscribe((event) => {
    const query = event.query as Query;
    if (event.type !== "updated" || query.queryKey[0] !== "getMe") return;
    const { data } = query.state;
    const before = seen.get(query);
    seen.set(query, data);
    if (before === undefined || before === data) return;
    for (const list of listsOfRights) void queries.invalidateQueries({ queryKey: [list] });
  });
}
