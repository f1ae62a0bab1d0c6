import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { builtInRoles, permissionNames } from "./permissions.ts";
import { adminsIn, rightsOf } from "./rights.ts";
import { type AccessCommand, accessDecider, type AccessState, noAccess } from "./state.ts";

/** Returns the state after commands, each of which must be accepted. */
function after(...commands: readonly AccessCommand[]): AccessState {
  let state = noAccess;
  for (const command of commands) {
    const decided = accessDecider.decide(state, command);
    if (isRejection(decided)) throw new Error(decided.detail);
    for (const event of decided) state = accessDecider.evolve(state, event);
  }
  return state;
}

const by = "user:ada";
const begun: AccessCommand = { kind: "begin", person: "ada", local: "local", by };
const give = (
  grant: string,
  role: string,
  to: Partial<Record<"user" | "group" | "workspace", string>>,
) => ({ kind: "give", user: "", group: "", workspace: "", ...to, grant, role, by }) as const;

describe("rights", () => {
  test("without users everybody may do everything, and nobody may by default once there are users", () => {
    expect(rightsOf(noAccess, "local", "admin").everywhere("user_admin")).toBe(true);
    const state = after(begun);
    expect(rightsOf(state, "ada", by).everywhere("user_admin")).toBe(true);
    expect(rightsOf(state, "local", "admin").everywhere("cluster_admin")).toBe(true);
    const bo = rightsOf(state, "bo", "user:bo");
    expect(bo.workspacesWith("experiment_view")).toEqual(["default"]);
    expect(bo.has("experiment_create", "default")).toBe(true);
    expect(bo.has("experiment_view", "vision")).toBe(false);
    expect(bo.anywhere("workspace_create")).toBe(false);
  });

  test("an editor controls only what is its own, and a workspace admin everything", () => {
    const state = after(
      begun,
      give("1", "editor", { user: "bo", workspace: "vision" }),
      give("2", "workspace-admin", { user: "cy", workspace: "vision" }),
    );
    const object = (owner: string) => ({ workspace: "vision", owner });
    const bo = rightsOf(state, "bo", "user:bo");
    expect(bo.hasFor("experiment_control", object("user:bo"))).toBe(true);
    expect(bo.hasFor("experiment_control", object("user:cy"))).toBe(false);
    expect(bo.hasFor("experiment_edit", object("user:cy"))).toBe(true);
    const cy = rightsOf(state, "cy", "user:cy");
    expect(cy.hasFor("experiment_control", object("user:bo"))).toBe(true);
    expect(cy.has("cluster_admin", "vision")).toBe(false);
  });

  test("a group gives its roles to its members while they are members and it is there", () => {
    const grouped: AccessCommand[] = [
      begun,
      { kind: "create group", group: "g", name: "team", fromClaim: false, by },
      { kind: "change members", group: "g", join: ["bo"], leave: [], fromClaim: false, by },
      give("1", "viewer", { group: "g", workspace: "vision" }),
    ];
    const sees = (...more: AccessCommand[]) =>
      rightsOf(after(...grouped, ...more), "bo", "user:bo").has("experiment_view", "vision");
    expect(sees()).toBe(true);
    expect(
      sees({ kind: "change members", group: "g", join: [], leave: ["bo"], fromClaim: false, by }),
    ).toBe(false);
    expect(sees({ kind: "delete group", group: "g", by })).toBe(false);
    expect(sees({ kind: "take", grant: "1", by })).toBe(false);
  });

  test("a token does no more than its limits, and no more than its owner", () => {
    const state = after(begun, give("1", "editor", { user: "bo", workspace: "vision" }));
    const limited = (user: string, role: string, workspaces: readonly string[]) =>
      rightsOf(state, user, `user:${user}`, [{ role, workspaces }]);
    const ada = limited("ada", "viewer", ["vision"]);
    expect(ada.has("experiment_view", "vision")).toBe(true);
    expect(ada.has("experiment_view", "default")).toBe(false);
    expect(ada.everywhere("experiment_view")).toBe(false);
    expect(ada.has("experiment_create", "vision")).toBe(false);
    expect(ada.anywhere("user_admin")).toBe(false);
    const bo = limited("bo", "cluster-admin", []);
    expect(bo.everywhere("cluster_admin")).toBe(false);
    expect(bo.has("experiment_create", "vision")).toBe(true);
    expect(limited("bo", "gone", []).anywhere("experiment_view")).toBe(false);
    const twice = rightsOf(state, "ada", by, [
      { role: "viewer", workspaces: [] },
      { role: "cluster-admin", workspaces: ["vision"] },
    ]);
    expect(twice.list()).toEqual({
      everywhere: [],
      workspaces: [
        {
          workspace: "vision",
          permissions: ["workspace_view", "experiment_view", "task_view", "model_view"],
        },
      ],
    });
  });

  test("callers who see the same share a text of their sight, and others do not", () => {
    const state = after(
      begun,
      give("1", "viewer", { user: "bo", workspace: "vision" }),
      give("2", "editor", { user: "cy", workspace: "vision" }),
      give("3", "registry-viewer", { user: "di", workspace: "vision" }),
    );
    const sight = (user: string) => rightsOf(state, user, user).sight;
    expect(sight("bo")).toBe(sight("cy"));
    expect(sight("bo")).not.toBe(sight("di"));
    expect(sight("ada")).toBe(sight("local"));
  });

  test("the admins are those who have user_admin everywhere, also by a group", () => {
    const state = after(
      begun,
      { kind: "create group", group: "g", name: "team", fromClaim: false, by },
      { kind: "change members", group: "g", join: ["bo"], leave: [], fromClaim: false, by },
      give("1", "cluster-admin", { group: "g" }),
    );
    expect(adminsIn(state, ["ada", "bo", "cy"])).toEqual(["ada", "bo"]);
  });
});

describe("a change of access is refused", () => {
  const define = (name: string, ...permissions: string[]) =>
    ({ kind: "define role", role: name, name, description: "", permissions, by }) as const;
  test.each<[string, AccessCommand, string]>([
    ["an unknown role", give("1", "boss", { user: "bo" }), "role_not_found"],
    ["an unknown group", give("1", "viewer", { group: "g" }), "group_not_found"],
    [
      "both a user and a group",
      give("1", "viewer", { user: "a", group: "everyone" }),
      "invalid_request",
    ],
    ["neither", give("1", "viewer", {}), "invalid_request"],
    [
      "a role of the cluster in a workspace",
      give("1", "cluster-admin", { user: "bo", workspace: "v" }),
      "only_everywhere",
    ],
    ["a permission that is none", define("x", "experiment_fly"), "no_such_permission"],
    ["a role without permissions", define("x"), "invalid_request"],
    ["a built-in role", define("viewer", "experiment_view"), "built_in"],
    ["a role's name with spaces", define("a b", "experiment_view"), "invalid_request"],
    ["the end of everyone", { kind: "delete group", group: "everyone", by }, "built_in"],
    [
      "members of everyone",
      { kind: "change members", group: "everyone", join: ["bo"], leave: [], fromClaim: false, by },
      "built_in",
    ],
    [
      "a second group of a name",
      { kind: "create group", group: "h", name: "Everyone", fromClaim: false, by },
      "group_exists",
    ],
  ])("%s", (_what, command, code) => {
    expect(accessDecider.decide(after(begun), command)).toMatchObject({ rejected: code });
  });

  test("a repeat changes nothing", () => {
    const given = give("1", "viewer", { user: "bo", workspace: "vision" });
    expect(accessDecider.decide(after(begun, given), { ...given, grant: "2" })).toEqual([]);
    expect(accessDecider.decide(after(begun), begun)).toEqual([]);
  });
});

test("every permission is in the role of cluster admins, and no other built-in role names an unknown one", () => {
  expect(builtInRoles.get("cluster-admin")?.permissions).toEqual(permissionNames);
  for (const { permissions } of builtInRoles.values()) {
    expect(permissionNames).toEqual(expect.arrayContaining([...permissions]));
  }
});
