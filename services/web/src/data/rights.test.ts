import { expect, test } from "vitest";
import { rightsOfMe } from "./rights.ts";

const ada = { name: "ada" } as NonNullable<Parameters<typeof rightsOfMe>[0]>["user"];

test("pages show everything before the rights are known, and in a cluster without users", () => {
  const nobody = { hasUsers: false, permissions: [], workspaces: [] };
  for (const me of [undefined, nobody]) {
    expect(rightsOfMe(me).everywhere("user_admin")).toBe(true);
    expect(rightsOfMe(me).hasFor("task_control", { workspace: "a", owner: "admin" })).toBe(true);
  }
});

test("pages show what the permissions include, for one's own objects and in single workspaces", () => {
  const rights = rightsOfMe({
    hasUsers: true,
    user: ada,
    permissions: ["signed_in", "permission_of_a_later_version"],
    workspaces: [{ workspace: "vision", permissions: ["experiment_control_own"] }],
  });
  const of = (owner: string, workspace = "vision") =>
    rights.hasFor("experiment_control", { workspace, owner });
  expect([of("ada"), of("bo"), of("ada", "other")]).toEqual([true, false, false]);
  expect(rights.anywhere("model_view")).toBe(false);
});
