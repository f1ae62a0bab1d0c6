/** Tests of the commands about users, groups, roles and tokens, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { sentPassword } from "../password.ts";
import { inputOf } from "../testing/input.ts";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const ada = { id: "u1", name: "ada\u001b[2J", kind: "person", groups: ["vision"], email: "a@x" };
const vision = { id: "g1", name: "vision", members: ["ada", "bo"] };
const everyone = { id: "everyone", name: "everyone" };
const editor = { id: "editor", name: "editor", permissions: ["experiment_view"], builtIn: true };
const grants = [
  { id: "r1", role: "editor", user: "ada" },
  { id: "r2", role: "editor", user: "ada", workspace: "Lab" },
  { id: "r3", role: "viewer", group: "vision", workspace: "Lab" },
];

let gateway: PlayedGateway;
let me: object;

const answers: readonly (readonly [RegExp, object])[] = [
  [/^GET .*\/groups/, { items: [vision, everyone] }],
  [/^GET .*\/roles/, { items: [editor] }],
  [/^GET .*\/grants/, { items: grants }],
  [/^GET .*\/users\/ada/, ada],
  [/^GET .*\/users/, { items: [ada, { ...ada, name: "bo", disabled: true }] }],
  [/^POST .*\/users\/ada\/reset/, { password: "random words" }],
  [/^GET .*\/tokens/, { items: [{ id: "k1", owner: "ada", role: "viewer", workspaces: ["Lab"] }] }],
  [/^POST .*\/tokens/, { token: { id: "k2" }, secret: "shh" }],
];

beforeEach(async () => {
  me = { hasUsers: true, user: ada };
  gateway = await playGateway(({ call, body }) => {
    if (call.includes("hidden")) return problem(404, "user_not_found", "there is no user hidden");
    if (call === "GET /api/v1/me") return { body: me };
    if (call === "POST /api/v1/users") {
      const { password = "" } = body as { readonly password?: string };
      return { body: { user: ada, password: password === "" ? "random words" : "" } };
    }
    return { body: answers.find(([pattern]) => pattern.test(call))?.[1] ?? { user: ada } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

const asked = () =>
  gateway.requests.map(({ call, body }) => [call.replace(/pageSize=\d+&?/, ""), body]);

test("each verb of a user is one call", async () => {
  await gateway.yard("user", "rename", "ada", "ada.l");
  await gateway.yard("user", "update", "ada", "--display-name", "Ada", "--email", "");
  await gateway.yard("user", "disable", "ada", "--reason", "left");
  await gateway.yard("user", "enable", "ada");
  await gateway.yard("user", "show", "ada");
  await gateway.yard("user", "ls", "--prefix", "a");
  expect(asked()).toEqual([
    ["PATCH /api/v1/users/ada", { name: "ada.l" }],
    ["PATCH /api/v1/users/ada", { displayName: "Ada", email: "" }],
    ["POST /api/v1/users/ada/disable", { reason: "left" }],
    ["POST /api/v1/users/ada/enable", {}],
    ["GET /api/v1/users/ada", null],
    ["GET /api/v1/users?prefix=a", null],
  ]);
  expect((await gateway.yard("user", "update", "ada")).code).toBe(2);
  expect((await gateway.yard("user", "show", "hidden")).err).toBe("There is no user hidden.\n");
});

test("a new user's random password is alone on stdout, and one from stdin is not printed", async () => {
  const random = await gateway.yard("user", "create", "ada", "--email", "a@x");
  expect(random).toMatchObject({ code: 0, out: "random words\n" });
  expect(random.err).toContain("is not shown again");
  using _stdin = inputOf("correct horse\n");
  const chosen = await gateway.yard("user", "create", "ada", "--stdin", "--admin");
  expect(chosen.lines).toEqual(["created user ada\\u001b[2J"]);
  await gateway.yard("user", "create", "ci", "--service");
  const made = gateway.requests.filter(({ call }) => call === "POST /api/v1/users");
  expect(made.map(({ body }) => body)).toEqual([
    { name: "ada", email: "a@x", kind: "person" },
    { name: "ada", kind: "person", password: sentPassword("correct horse"), admin: true },
    { name: "ci", kind: "service" },
  ]);
  expect((await gateway.yard("user", "create", "ci", "--service", "--stdin")).code).toBe(2);
  const reset = await gateway.yard("user", "reset", "ada");
  expect(reset.out).toBe("random words\n");
  expect(reset.err).toBe("the new password of ada is not shown again:\n");
});

test("the first user comes with a note about the tokens that exist", async () => {
  me = { hasUsers: false };
  const { err } = await gateway.yard("user", "create", "ada");
  expect(err).toContain("is the first user and a cluster admin");
  expect(err).toContain("service account local");
});

test("reset-admin runs the gateway's own command, which needs the gateway's settings", async () => {
  const ran = await gateway.yard("user", "reset-admin", "ada");
  expect(ran).toMatchObject({ code: 2, out: "" });
  expect(ran.err).toMatch(/^gateway: .*TRAINYARD_/);
  expect(gateway.requests).toEqual([]);
});

test("identities of a user are listed, added and removed, and your own are listed without a name", async () => {
  const identity = { issuer: "https://sso.example", subject: "s-1" };
  me = { hasUsers: true, user: { ...ada, identities: [identity] } };
  const own = await gateway.yard("user", "identity", "list");
  expect(own.lines).toEqual(["ISSUER SUBJECT", "https://sso.example s-1"]);
  expect((await gateway.yard("user", "identity", "list", "ada")).code).toBe(0);
  const named = ["ada", "https://sso.example", "s-1"];
  const added = await gateway.yard("user", "identity", "add", ...named);
  const removed = await gateway.yard("user", "identity", "remove", ...named);
  expect([...added.lines, ...removed.lines]).toEqual([
    "ada signs in by s-1 of https://sso.example",
    "ada no longer signs in by s-1 of https://sso.example",
  ]);
  expect(asked().slice(2)).toEqual([
    ["PATCH /api/v1/users/ada", { addIdentity: identity }],
    ["PATCH /api/v1/users/ada", { removeIdentity: identity }],
  ]);
  me = {};
  expect((await gateway.yard("user", "identity", "list")).err).toContain("no users");
});

test("your own password is changed by the present one and the new one", async () => {
  using _stdin = inputOf("old\ncorrect horse\n");
  const { lines } = await gateway.yard("user", "password", "--stdin");
  expect(lines).toEqual(["your password is changed"]);
  const body = { current: sentPassword("old"), password: sentPassword("correct horse") };
  expect(asked()).toEqual([["POST /api/v1/me/password", body]]);
});

test("whoami prints user, roles and permissions", async () => {
  const roles = [{ role: "editor", workspace: "Lab", group: "vision" }, { role: "viewer" }];
  const permissions = ["workspace_view"];
  const workspaces = [{ workspace: "Lab", permissions: ["experiment_create"] }];
  me = { hasUsers: true, user: ada, roles, permissions, workspaces, token: "k1" };
  expect((await gateway.yard("whoami")).lines).toEqual([
    "user ada\\u001b[2J",
    "kind person",
    "groups vision",
    "token k1",
    "roles editor in Lab, by the group vision",
    "viewer everywhere",
    "everywhere workspace_view",
    "in Lab experiment_create",
  ]);
  me = { hasUsers: false };
  expect((await gateway.yard("whoami")).out).toContain("every token may do everything");
});

test("each verb of a group is one call", async () => {
  await gateway.yard("group", "create", "vision", "ada", "bo");
  await gateway.yard("group", "rename", "vision", "sight");
  await gateway.yard("group", "add", "vision", "cy", "di");
  await gateway.yard("group", "remove", "vision", "ada");
  await gateway.yard("group", "delete", "a/b");
  expect((await gateway.yard("group", "ls")).lines).toEqual([
    "GROUP FROM MEMBERS",
    "vision ada, bo",
    "everyone all users",
  ]);
  expect(asked()).toEqual([
    ["POST /api/v1/groups", { name: "vision", members: ["ada", "bo"] }],
    ["PATCH /api/v1/groups/vision", { name: "sight" }],
    ["POST /api/v1/groups/vision/members", { join: ["cy", "di"] }],
    ["POST /api/v1/groups/vision/members", { leave: ["ada"] }],
    ["DELETE /api/v1/groups/a%2Fb", null],
    ["GET /api/v1/groups", null],
  ]);
});

test("roles are defined, given and deleted, and a workspace lists its members", async () => {
  const names = ["--permission", "experiment_view", "--permission", "model_view"];
  await gateway.yard("role", "define", "reader", ...names);
  await gateway.yard("role", "give", "reader", "--group", "vision", "--workspace", "Lab");
  const given = await gateway.yard("role", "give", "reader", "--user", "ada");
  expect(given.lines).toEqual(["ada is reader everywhere"]);
  await gateway.yard("role", "delete", "reader");
  await gateway.yard("role", "list");
  const { lines } = await gateway.yard("workspace", "members", "Lab");
  expect(lines).toContain("vision viewer in Lab");
  expect(asked()).toEqual([
    ["PUT /api/v1/roles/reader", { permissions: ["experiment_view", "model_view"] }],
    ["POST /api/v1/grants", { role: "reader", group: "vision", workspace: "Lab" }],
    ["POST /api/v1/grants", { role: "reader", user: "ada" }],
    ["DELETE /api/v1/roles/reader", null],
    ["GET /api/v1/roles", null],
    ["GET /api/v1/grants?workspace=Lab", null],
  ]);
  expect((await gateway.yard("role", "define", "reader")).code).toBe(2);
  expect((await gateway.yard("role", "give", "reader")).code).toBe(2);
});

test("a role is taken where it was given: everywhere, or in one workspace", async () => {
  const taken = await gateway.yard("role", "take", "editor", "--user", "ada");
  expect(taken.lines).toEqual(["ada is no longer editor everywhere"]);
  await gateway.yard("role", "take", "editor", "--user", "ada", "--workspace", "Lab");
  expect(asked()).toEqual([
    ["GET /api/v1/grants?user=ada", null],
    ["DELETE /api/v1/grants/r1", null],
    ["GET /api/v1/grants?workspace=Lab&user=ada", null],
    ["DELETE /api/v1/grants/r2", null],
  ]);
  const absent = await gateway.yard("role", "take", "viewer", "--user", "ada");
  expect(absent.err).toBe("ada does not have the role viewer everywhere.\n");
});

test("a token is limited to a role and workspaces, and lists show the limits", async () => {
  const limits = ["--role", "viewer", "--workspace", "Lab", "--workspace", "b"];
  const made = await gateway.yard("token", "create", "--user", "ci", "--ttl", "7d", ...limits);
  expect(made.out).toBe("shh\n");
  const { lines } = await gateway.yard("token", "ls", "--all");
  expect(lines[1]).toContain("viewer in Lab");
  const body = { role: "viewer", workspaces: ["Lab", "b"], user: "ci", ttlSeconds: 604_800 };
  expect(asked()).toEqual([
    ["POST /api/v1/tokens", body],
    ["GET /api/v1/tokens?all=true", null],
  ]);
});

test("a change has an idempotency key, and a call that answers with a secret has none", async () => {
  await gateway.yard("user", "reset", "ada");
  await gateway.yard("role", "give", "viewer", "--user", "ada");
  const [reset, give] = gateway.requests;
  expect(reset?.idempotencyKey).toBeUndefined();
  expect(give?.idempotencyKey).toBeDefined();
});
