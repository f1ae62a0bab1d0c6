import { type JSX, useState } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { Page } from "../../components/page/page.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { LoadingText } from "../../components/skeleton.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { useMe, useRights } from "../../data/me.ts";
import { GroupDialog } from "./group-dialog.tsx";
import { GroupsTab } from "./groups-tab.tsx";
import { NewUser } from "./new-user.tsx";
import { NoUsers } from "./no-users.tsx";
import { RoleDialog } from "./role-dialog.tsx";
import { RolesTab } from "./roles-tab.tsx";
import { type UsersTab, usersRoute } from "./route.ts";
import { UsersTable } from "./users-table.tsx";

const titles: Readonly<Record<UsersTab, string>> = {
  users: "Users",
  groups: "Groups",
  roles: "Roles",
};
const creators: Readonly<Record<UsersTab, string>> = {
  users: "New user",
  groups: "New group",
  roles: "New role",
};

const tabs = Object.entries(titles).map(([id, title]) => ({ id, title }));

/** Users, groups and roles. Everybody sees them; admins change them. */
export function UsersPage(): JSX.Element {
  const { tab = "users" } = usersRoute.useSearch();
  const navigate = usersRoute.useNavigate();
  const me = useMe();
  const isAdmin = useRights().everywhere("user_admin");
  const [creating, setCreating] = useState<UsersTab | null>(null);
  const close = (): void => setCreating(null);
  const isBegun = me.data?.hasUsers === true;
  const verbs: readonly Verb[] =
    isBegun && isAdmin
      ? [{ title: creators[tab], primary: true, run: () => setCreating(tab) }]
      : [];
  const show = (id: string): void =>
    void navigate({ search: id === "groups" || id === "roles" ? { tab: id } : {} });
  return (
    <Page title="Users" verbs={verbs}>
      {me.error !== null && <ErrorNote error={me.error} onRetry={() => void me.refetch()} />}
      {me.isPending && <LoadingText label="the users" />}
      {me.data?.hasUsers === false && <NoUsers onCreate={() => setCreating("users")} />}
      {isBegun && (
        <Tabs label="Users, groups and roles" tabs={tabs} value={tab} onChange={show}>
          {tab === "users" && <UsersTable isAdmin={isAdmin} />}
          {tab === "groups" && <GroupsTab isAdmin={isAdmin} />}
          {tab === "roles" && <RolesTab isAdmin={isAdmin} />}
        </Tabs>
      )}
      {creating === "users" && <NewUser isFirst={!isBegun} onClose={close} />}
      {creating === "groups" && <GroupDialog onClose={close} />}
      {creating === "roles" && <RoleDialog onClose={close} />}
    </Page>
  );
}
