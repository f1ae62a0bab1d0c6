import { builtInRoles } from "@trainyard/access";
import { expect, test } from "vitest";
import { givable } from "./givable.ts";

test("roles with permissions of the cluster are offered everywhere, and in no workspace", () => {
  const roles = [...builtInRoles.values()];
  const names = (workspace: string) => givable(roles, workspace).map(({ name }) => name);
  expect(names("")).toHaveLength(roles.length);
  expect(names("vision")).toEqual([
    "viewer",
    "editor",
    "restricted-editor",
    "workspace-admin",
    "registry-viewer",
  ]);
});
