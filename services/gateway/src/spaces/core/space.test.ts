import { isRejection } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { isDefaultName, nameDecider, nameKey } from "./name.ts";
import { projectDecider, type SpaceCommand, type SpaceState, workspaceDecider } from "./space.ts";

const by = "ada";
const create: SpaceCommand = {
  kind: "create",
  name: "Lab",
  description: "d",
  notes: "",
  workspace: "w",
  by,
};

function after(...commands: readonly SpaceCommand[]): SpaceState {
  let state = workspaceDecider.initial;
  for (const command of commands) {
    const decided = workspaceDecider.decide(state, command);
    if (isRejection(decided)) throw new Error(decided.detail);
    for (const event of decided) state = workspaceDecider.evolve(state, event);
  }
  return state;
}

test("a workspace is created once, described, archived and unarchived", () => {
  expect(after(create)).toMatchObject({ exists: true, archived: false, description: "d" });
  expect(workspaceDecider.decide(after(create), create)).toEqual([]);
  const described = after(create, { kind: "describe", notes: "n", by });
  expect(described).toMatchObject({ description: "d", notes: "n", revision: 1 });
  const archived = after(create, { kind: "archive", reason: "r", by });
  expect(archived.archived).toBe(true);
  expect(workspaceDecider.decide(archived, { kind: "archive", reason: "again", by })).toEqual([]);
  expect(
    after(create, { kind: "archive", reason: "r", by }, { kind: "unarchive", by }).archived,
  ).toBe(false);
});

test("the creation of a project records its workspace", () => {
  expect(projectDecider.decide(projectDecider.initial, create)).toEqual([
    {
      type: "ProjectCreated",
      data: { workspace: "w", name: "Lab", description: "d", notes: "", by },
    },
  ]);
});

test("a change that names an older revision is refused, unless it is a repeat", () => {
  const state = after(create, { kind: "describe", notes: "n", by });
  expect(
    workspaceDecider.decide(state, { kind: "describe", notes: "m", ifRevision: 0, by }),
  ).toMatchObject({
    rejected: "stale_revision",
  });
  expect(
    workspaceDecider.decide(state, { kind: "describe", notes: "n", ifRevision: 0, by }),
  ).toEqual([]);
});

test.each([
  { ...create, name: "" },
  { ...create, name: ".." },
  { ...create, name: "a\nb" },
  { ...create, name: " a" },
  { ...create, name: "\u001b[2J" },
  { ...create, name: "a\ud800b" },
  { ...create, name: "x".repeat(256) },
  { ...create, description: "x".repeat(5_000) },
  { ...create, notes: "x".repeat(40_000) },
])("an invalid or too long name, description or notes is refused", (command) => {
  expect(workspaceDecider.decide(workspaceDecider.initial, command)).toMatchObject({
    rejected: "invalid_request",
  });
});

test.each(["describe", "archive", "unarchive"] as const)(
  "%s of an unknown workspace is refused",
  (kind) => {
    const command = { kind, reason: "", by } as SpaceCommand;
    expect(workspaceDecider.decide(workspaceDecider.initial, command)).toMatchObject({
      rejected: "not_found",
    });
  },
);

test("a name has one holder, and ignores case", () => {
  const wanted = { kind: "workspace", name: "Lab", holder: "1", workspace: "" };
  expect(nameDecider.decide(null, wanted)).toEqual([{ type: "NameReserved", data: wanted }]);
  expect(nameDecider.decide(wanted, wanted)).toEqual([]);
  expect(nameDecider.decide(wanted, { ...wanted, holder: "2" })).toMatchObject({
    rejected: "workspace_exists",
  });
  expect(nameKey("workspace", "LAB")).toBe(nameKey("workspace", "lab"));
  expect(nameKey("project", "a", "b")).not.toBe(nameKey("project", "b", "a"));
  expect([isDefaultName(""), isDefaultName("Default"), isDefaultName("lab")]).toEqual([
    true,
    true,
    false,
  ]);
});
