import { allRights, noRights, Rights } from "@trainyard/access";
import { type AnyEvent, encodeEvent, eventTypes } from "@trainyard/contracts";
import { categoryOwners } from "@trainyard/kernel/services";
import { emptyMeta } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { LeavingEvent } from "./leaving-event.ts";
import { type KnownObjects, mayRead, objectsOf, readersOf } from "./rights.ts";

function leaving(stream: string, event: AnyEvent): LeavingEvent {
  const stored = {
    ...{ position: 1, stream, version: 1, id: "i", timeMs: 0, commitId: "c" },
    ...{ meta: { ...emptyMeta, workspace: "vision" }, ...encodeEvent(event) },
  };
  return new LeavingEvent(stored, "e");
}

/** An event whose body says nothing about its object. */
const bare = (stream: string): LeavingEvent => leaving(stream, { type: "PoolRemoved", data: {} });

const known: KnownObjects = new Map([
  ["experiment-12", { sight: "experiment_view", workspace: "vision" }],
  ["experiment-13", { sight: "experiment_view", workspace: "speech" }],
  ["task-t4", { sight: "task_view", workspace: "vision" }],
  ["checkpoint-a", { sight: "experiment_view", workspace: "vision" }],
  ["checkpoint-b", { sight: "task_view", workspace: "vision" }],
  ["model-m", { sight: "model_view", workspace: "vision" }],
  ["workspace-w", { sight: "workspace_view", workspace: "vision" }],
  ["project-p", { sight: "workspace_view", workspace: "vision" }],
  ["token-aa", { owner: "user:ada" }],
]);

const inVision = (...permissions: readonly never[] | readonly string[]): Rights =>
  new Rights("user:ada", new Set(), new Map([["vision", new Set(permissions as never[])]]));

const everywhere = (permission: "cluster_admin" | "user_admin"): Rights =>
  new Rights("user:root", new Set([permission]));

const none = noRights("user:ada");

test("each category of streams has its readers", () => {
  expect(Object.keys(readersOf).toSorted()).toEqual(Object.keys(categoryOwners).toSorted());
  const aggregates = new Set(eventTypes.map(({ aggregate }) => aggregate));
  expect([...aggregates].filter((category) => !Object.hasOwn(readersOf, category))).toEqual([]);
});

test.each([
  ...["experiment-12", "trial-12.3", "search-12", "allocation-12.3#1", "measurement-12.3"].map(
    (stream) => [stream, "experiment_view"] as const,
  ),
  ...["logsignal-12.3", "policy-12", "environment-12", "checkpoint-a", "retention-a"].map(
    (stream) => [stream, "experiment_view"] as const,
  ),
  ...["task-t4", "allocation-t4#1", "logsignal-t4", "checkpoint-b", "retention-b"].map(
    (stream) => [stream, "task_view"] as const,
  ),
  ["model-m", "model_view"],
  ["workspace-w", "workspace_view"],
  ["project-p", "workspace_view"],
] as const)(
  "%s is read with %s in the object's workspace, and without it by nobody",
  (stream, permission) => {
    const others = ["workspace_view", "experiment_view", "task_view", "model_view"].filter(
      (one) => one !== permission,
    );
    expect(mayRead(inVision(permission), bare(stream), known)).toBe(true);
    expect(mayRead(inVision(...others), bare(stream), known)).toBe(false);
    expect(mayRead(everywhere("cluster_admin"), bare(stream), known)).toBe(false);
    expect(mayRead(inVision(permission), bare(stream), new Map())).toBe(false);
    expect(mayRead(allRights("admin"), bare(stream), new Map())).toBe(true);
  },
);

test.each([
  ...["access-cluster", "subscription-s", "storage-s", "hold-deletions", "content-c.1", "name-n"],
  ...["user-bob", "token-bb", "later-1"],
])("%s is read by admins of the cluster and of users", (stream) => {
  expect(mayRead(none, bare(stream), known)).toBe(false);
  expect(mayRead(everywhere("cluster_admin"), bare(stream), known)).toBe(true);
  expect(mayRead(everywhere("user_admin"), bare(stream), known)).toBe(true);
});

test("a user reads its own events and those of its tokens", () => {
  expect(mayRead(none, bare("user-ada"), known)).toBe(true);
  expect(mayRead(none, bare("token-aa"), known)).toBe(true);
  expect(mayRead(noRights("user:eve"), bare("token-aa"), known)).toBe(false);
  expect(mayRead(noRights(""), bare("token-zz"), known)).toBe(false);
});

test("the object's workspace decides, and not the one in the envelope", () => {
  expect(mayRead(inVision("experiment_view"), bare("experiment-13"), known)).toBe(false);
});

const namingRuns = [
  { type: "SlotsCleared", data: { allocation: "13.1#1", slots: [] } },
  { type: "CheckpointsLeft", data: { count: 1, bytes: 1, runs: ["12.1#1", "13.1#1"] } },
  { type: "AgentDistrusted", data: { failures: 1, experiments: ["13"], reason: "", forMs: 1 } },
  { type: "AgentNoticed", data: { notices: ["a process of 13.1#1 uses the GPU of 12.1#2"] } },
  { type: "JobUpdated", data: { job: "13" } },
  { type: "JobMoved", data: { job: "12", place: 1, anchor: "13", ahead: true } },
] as unknown as readonly AnyEvent[]; // The bodies have only the fields that name runs.

test.each(namingRuns)(
  "$type is for those who may see all runs that it names, and for the cluster's admins",
  (event) => {
    const named = leaving("agent-a", event);
    expect(mayRead(inVision("experiment_view"), named, known)).toBe(false);
    expect(mayRead(everywhere("cluster_admin"), named, known)).toBe(true);
    expect(objectsOf(named)).toContain("experiment-13");
    const body = JSON.stringify(event.data).replaceAll("13", "12");
    const own = leaving("agent-a", { type: event.type, data: JSON.parse(body) } as AnyEvent);
    expect(mayRead(inVision("experiment_view"), own, known)).toBe(true);
    expect(mayRead(none, own, known)).toBe(false);
  },
);

test("the quotas of a pool are for those who see their workspaces, and for the cluster's admins", () => {
  const settings = { quotas: [{ workspace: "vision" }, { workspace: "speech" }] };
  const event = { type: "PoolConfigured", data: { policy: "priority", settings } };
  const configured = leaving("pool-p", event as unknown as AnyEvent); // The body has only the quotas.
  expect(mayRead(inVision("workspace_view"), configured, known)).toBe(false);
  expect(mayRead(everywhere("cluster_admin"), configured, known)).toBe(true);
  const sees = new Rights("", new Set(["workspace_view"]));
  expect(mayRead(sees, configured, known)).toBe(true);
});

test("everybody reads the events of agents and pools that name no run", () => {
  expect(mayRead(none, bare("pool-default"), known)).toBe(true);
  expect(
    mayRead(none, leaving("agent-a", { type: "AgentLost", data: { reason: "" } }), known),
  ).toBe(true);
});
