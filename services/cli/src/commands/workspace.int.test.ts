/** Tests of the commands about workspaces, projects and moves, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const lab = {
  name: "Lab\u001b[2J",
  description: "=1+1",
  notes: "n\nm",
  createdBy: "ada",
  etag: '"1"',
};
const moved = [
  { experiment: "7", outcome: "changed" },
  { experiment: "8", outcome: "refused", detail: "there is \u009bnone" },
];

let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    if (call.includes("closed"))
      return problem(409, "project_archived", "the project \u001b]0;x\u0007 is archived");
    if (call.endsWith("experiments:move")) return { body: { items: moved } };
    if (call.endsWith("/move")) return { body: { model: { name: "iris", workspace: "Lab" } } };
    if (call.startsWith("GET") && call.includes("?")) return { body: { items: [lab] } };
    if (call.startsWith("GET")) return { body: lab };
    return { body: { workspace: lab, project: lab } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const asked = () =>
  gateway.requests.map(({ call, body }) => [call.replace(/pageSize=\d+&?/, ""), body]);

test("each verb of a workspace or a project is one call", async () => {
  await gateway.yard("workspace", "create", "Lab", "--notes", "n");
  await gateway.yard("w", "update", "Lab", "--description", "d", "--if-match", '"1"');
  await gateway.yard("w", "archive", "Lab", "--reason", "over");
  await gateway.yard("w", "unarchive", "Lab");
  await gateway.yard("project", "create", "Lab", "a/b");
  await gateway.yard("p", "update", "Lab", "a/b", "--notes", "");
  await gateway.yard("p", "archive", "Lab", "a/b");
  await gateway.yard("p", "unarchive", "Lab", "a/b");
  await gateway.yard("p", "ls", "Lab", "--archived");
  expect(asked()).toEqual([
    ["POST /api/v1/workspaces", { name: "Lab", notes: "n" }],
    ["PATCH /api/v1/workspaces/Lab", { description: "d" }],
    ["POST /api/v1/workspaces/Lab/archive", { reason: "over" }],
    ["POST /api/v1/workspaces/Lab/unarchive", {}],
    ["POST /api/v1/workspaces/Lab/projects", { name: "a/b" }],
    ["PATCH /api/v1/workspaces/Lab/projects/a%2Fb", { notes: "" }],
    ["POST /api/v1/workspaces/Lab/projects/a%2Fb/archive", {}],
    ["POST /api/v1/workspaces/Lab/projects/a%2Fb/unarchive", {}],
    ["GET /api/v1/workspaces/Lab/projects?archived=true", null],
  ]);
  expect(gateway.requests[1]?.ifMatch).toBe('"1"');
  const changing = gateway.requests.filter(({ call }) => !call.startsWith("GET"));
  expect(changing.every(({ idempotencyKey }) => idempotencyKey !== undefined)).toBe(true);
});

test("names are printed without control characters, also in a refusal", async () => {
  const shown = await gateway.yard("workspace", "list");
  expect(shown.lines[1]).toContain("Lab\\u001b[2J");
  const described = await gateway.yard("project", "describe", "Lab", "x");
  const refused = await gateway.yard("project", "describe", "Lab", "closed");
  expect(refused).toMatchObject({ code: 2, err: "The project \\u001b]0;x\\u0007 is archived.\n" });
  for (const { out } of [shown, described]) expect(out).not.toMatch(/[\u001b\u0007\u009b]/);
});

test("experiments and a model are moved, and a refusal is printed without control characters", async () => {
  const ran = await gateway.yard(
    "experiment",
    "move",
    "7",
    "8",
    "--workspace",
    "Lab",
    "--project",
    "p",
  );
  expect(ran).toMatchObject({
    code: 1,
    lines: ["experiment 7: move, done", "experiment 8: refused, there is \\u009bnone"],
  });
  expect((await gateway.yard("model", "move", "iris", "Lab")).lines).toEqual([
    "model iris is in Lab",
  ]);
  await gateway.yard("e", "ls", "--workspace", "Lab", "--project", "p");
  expect(asked()).toEqual([
    ["POST /api/v1/experiments:move", { experiments: ["7", "8"], workspace: "Lab", project: "p" }],
    ["POST /api/v1/models/iris/move", { workspace: "Lab" }],
    [expect.stringMatching(/^GET \/api\/v1\/experiments\?workspace=Lab&project=p&fields=/), null],
  ]);
});

test("an update of a workspace without options is refused before it is sent", async () => {
  expect((await gateway.yard("w", "update", "Lab")).code).toBe(2);
  expect(gateway.requests).toEqual([]);
});
