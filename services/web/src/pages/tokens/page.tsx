import { type JSX, useState } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { counted } from "../../components/format.ts";
import { Page } from "../../components/page/page.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { Table } from "../../components/table/index.ts";
import { useCall, useList } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { useMe, useRights } from "../../data/me.ts";
import { giveWay, layoutFor, type Row, tokenColumns } from "./columns.tsx";
import { NewToken } from "./new-token.tsx";
import { RevokeDialog } from "./revoke-dialog.tsx";
import { tokensRoute } from "./route.ts";

export function TokensPage(): JSX.Element {
  const { all = false } = tokensRoute.useSearch();
  const navigate = tokensRoute.useNavigate();
  const me = useMe();
  const hasUsers = me.data?.hasUsers === true;
  const isAdmin = useRights().everywhere("user_admin") && hasUsers;
  const tokens = useList("listTokens", { pageSize: 200, ...(all && isAdmin ? { all } : {}) });
  const session = useCall("getCurrentSession", {});
  const [isCreating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const nowMs = useNow();
  const rows = tokens.data?.pages.flatMap(({ items }) => items) ?? [];
  const own = session.data?.token ?? "";
  const choice: Verb = {
    title: all ? "Only my tokens" : "Tokens of all users",
    run: () => void navigate({ search: all ? {} : { all: true } }),
  };
  const create: Verb = { title: "New token", run: () => setCreating(true), primary: true };
  return (
    <Page
      title="Tokens"
      // The buttons come together: one that came later would move the other under the pointer.
      verbs={me.isPending ? [] : [...(isAdmin ? [choice] : []), create]}
    >
      <Table
        label="Tokens"
        columns={tokenColumns({ nowMs, own, revoke: setRevoking })}
        layout={layoutFor(hasUsers)}
        giveWay={giveWay}
        rows={rows}
        idOf={({ id }) => id}
        total={tokens.hasNextPage ? undefined : rows.length}
        onEnd={() => tokens.hasNextPage && !tokens.isFetching && void tokens.fetchNextPage()}
        empty={<EmptyState title="There is no token." />}
        pending={tokens.isPending}
        error={tokens.error}
        onRetry={() => void tokens.refetch()}
        status={tokens.isSuccess && counted(rows.length, "token")}
      />
      {isCreating && <NewToken hasUsers={hasUsers} onClose={() => setCreating(false)} />}
      {revoking !== null && <RevokeDialog token={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  );
}
