import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { passwordForm } from "../../people/passwords.ts";
import { addUser, type TestUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let other: string;
let head: TestUser;
let viewer: TestUser;

const call = async (url: string, method: string, path: string, body?: object, token?: string) => {
  const answer = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token ?? gateway.token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};
const api = (method: string, path: string, body?: object, token?: string) =>
  call(gateway.url, method, path, body, token);

const grantsIn = ({ body }: { body: Record<string, unknown> }) =>
  (body["items"] as Record<string, string>[]).map(({ id: _id, ...grant }) => grant);

beforeAll(async () => {
  gateway = await startTestGateway();
  other = await gateway.startAnother();
  await api("POST", "users", { name: "ada", password: passwordForm("ada") });
  for (const name of ["vision", "Language", "old"]) await api("POST", "workspaces", { name });
  await api("POST", "workspaces/old/archive", {});
  head = await addUser(gateway, "head", { role: "workspace-admin", workspace: "vision" });
  viewer = await addUser(gateway, "vi", { role: "viewer", workspace: "vision" });
}, 60_000);

afterAll(() => gateway?.[Symbol.asyncDispose]());

describe("a group", () => {
  test("is made with members, renamed, changed and deleted with its roles", async () => {
    const made = await api("POST", "groups", { name: "team", members: ["VI"] });
    expect(made.body["group"]).toMatchObject({ name: "team", members: ["vi"], fromClaim: false });
    const changed = await api("POST", "groups/team/members", { join: ["head"], leave: ["vi"] });
    expect(changed.body["group"]).toMatchObject({ members: ["head"] });
    expect((await api("PATCH", "groups/TEAM", { name: "crew" })).body["group"]).toMatchObject({
      name: "crew",
    });
    await api("POST", "grants", { role: "viewer", group: "crew", workspace: "language" });
    expect(grantsIn(await api("GET", "grants?group=crew"))).toEqual([
      { role: "viewer", user: "", group: "crew", workspace: "Language" },
    ]);
    expect((await api("GET", "users/head")).body).toMatchObject({ groups: ["crew"] });
    expect((await api("GET", "me", undefined, head.token)).body["roles"]).toContainEqual({
      ...{ role: "viewer", workspace: "Language", group: "crew" },
    });
    expect((await api("DELETE", "groups/crew")).status).toBe(200);
    expect(grantsIn(await api("GET", "grants?workspace=Language"))).toEqual([]);
    expect((await api("DELETE", "groups/crew")).status).toBe(404);
  });

  test("is seen by all and changed by admins only; everyone stays", async () => {
    const { body } = await api("GET", "groups", undefined, viewer.token);
    expect(body["items"]).toMatchObject([{ id: "everyone", members: [] }]);
    expect((await api("POST", "groups", { name: "x" }, head.token)).status).toBe(403);
    expect((await api("DELETE", "groups/everyone")).body["code"]).toBe("built_in");
    expect((await api("POST", "groups", { name: "x", members: ["nobody"] })).body["code"]).toBe(
      "user_not_found",
    );
  });
});

describe("a role", () => {
  test("is defined, changed, given and deleted, and one of its name is another role", async () => {
    const permissions = ["workspace_view", "experiment_view", "experiment_edit"];
    const made = await api("PUT", "roles/annotator", { description: "labels", permissions });
    expect(made.body["role"]).toMatchObject({ name: "annotator", builtIn: false });
    const { id } = made.body["role"] as { id: string };
    const changed = await api("PUT", "roles/annotator", { description: "more", permissions });
    expect(changed.body["role"]).toMatchObject({ id, description: "more" });
    await api("POST", "grants", { role: "annotator", user: "vi", workspace: "language" });
    expect((await api("DELETE", "roles/annotator")).status).toBe(200);
    expect(grantsIn(await api("GET", "grants?workspace=language"))).toEqual([]);
    const again = await api("PUT", "roles/annotator", { description: "labels", permissions });
    expect((again.body["role"] as { id: string }).id).not.toBe(id);
    const { body } = await api("GET", "roles", undefined, viewer.token);
    const names = (body["items"] as { name: string }[]).map(({ name }) => name);
    expect([names[0], names.at(-1)]).toEqual(["viewer", "annotator"]);
  });

  test.each<[string, string, object, string]>([
    ["no permission of that name", "roles/x", { permissions: ["fly"] }, "no_such_permission"],
    ["no permissions", "roles/x", { permissions: [] }, "invalid_request"],
    ["a name with spaces", "roles/a%20b", { permissions: ["task_view"] }, "invalid_request"],
    ["the name of a built-in one", "roles/viewer", { permissions: ["task_view"] }, "built_in"],
  ])("with %s is refused", async (_what, path, body, code) => {
    expect((await api("PUT", path, body)).body["code"]).toBe(code);
  });
});

describe("giving roles", () => {
  test("an admin of a workspace gives and takes there what it may do itself, and nothing elsewhere", async () => {
    const given = await api(
      "POST",
      "grants",
      { role: "editor", user: "vi", workspace: "VISION" },
      head.token,
    );
    expect(given.body["grant"]).toMatchObject({ role: "editor", user: "vi", workspace: "vision" });
    const { id } = given.body["grant"] as { id: string };
    const again = await api(
      "POST",
      "grants",
      { role: "editor", user: "vi", workspace: "vision" },
      head.token,
    );
    expect(again.body["grant"]).toMatchObject({ id });
    expect((await api("DELETE", `grants/${id}`, undefined, viewer.token)).body).toMatchObject({
      code: "not_allowed",
    });
    expect((await api("DELETE", `grants/${id}`, undefined, head.token)).status).toBe(200);
    const refused: [object, number, string][] = [
      [{ role: "viewer", user: "vi" }, 403, "user_admin everywhere"],
      [{ role: "viewer", user: "vi", workspace: "Language" }, 404, 'no workspace "Language"'],
      [{ role: "viewer", user: "vi", workspace: "none" }, 404, 'no workspace "none"'],
    ];
    for (const [body, status, detail] of refused) {
      const answer = await api("POST", "grants", body, head.token);
      expect(answer.status).toBe(status);
      expect(answer.body["detail"]).toContain(detail);
    }
  });

  test("nobody gives a permission in a workspace that it has not there", async () => {
    const permissions = ["workspace_view", "workspace_admin"];
    await api("PUT", "roles/doorkeeper", { permissions });
    const keeper = await addUser(gateway, "keeper");
    await api("POST", "grants", { role: "doorkeeper", user: "keeper", workspace: "vision" });
    const give = (role: string) =>
      api("POST", "grants", { role, user: "keeper", workspace: "vision" }, keeper.token);
    expect(await give("editor")).toMatchObject({ status: 403, body: { code: "not_allowed" } });
    expect((await give("doorkeeper")).status).toBe(200);
    // A limited token does less than its owner.
    expect((await give("workspace-admin")).status).toBe(403);
  });

  test.each<[string, object, number, string]>([
    ["an archived workspace", { role: "viewer", user: "vi", workspace: "old" }, 409, "archived"],
    ["an unknown workspace", { role: "viewer", user: "vi", workspace: "no" }, 404, "no workspace"],
    ["an unknown user", { role: "viewer", user: "no" }, 404, 'there is no user "no"'],
    ["an unknown group", { role: "viewer", group: "no" }, 404, 'there is no group "no"'],
    ["an unknown role", { role: "no", user: "vi" }, 404, 'there is no role "no"'],
    ["nobody", { role: "viewer" }, 400, "to a user or to a group"],
    [
      "a role of the cluster in a workspace",
      { role: "cluster-admin", user: "vi", workspace: "vision" },
      409,
      "give it everywhere",
    ],
  ])("with %s is refused in a sentence", async (_what, body, status, detail) => {
    const answer = await api("POST", "grants", body);
    expect(answer.status).toBe(status);
    expect(answer.body["detail"]).toContain(detail);
  });

  test("roles are listed in a workspace for all who see it, and everywhere for admins", async () => {
    const all = grantsIn(await api("GET", "grants"));
    expect(all).toContainEqual({ role: "cluster-admin", user: "ada", group: "", workspace: "" });
    const seen = grantsIn(await api("GET", "grants", undefined, viewer.token));
    expect([...new Set(seen.map(({ workspace }) => workspace))].toSorted()).toEqual([
      "default",
      "vision",
    ]);
    const hidden = await api("GET", "grants?workspace=Language", undefined, viewer.token);
    const none = await api("GET", "grants?workspace=nothing1", undefined, viewer.token);
    expect(JSON.stringify(hidden.body).replaceAll("Language", "nothing1")).toBe(
      JSON.stringify({ ...none.body, requestId: hidden.body["requestId"] }),
    );
    const { id } = ((await api("GET", "grants?user=ada")).body["items"] as { id: string }[])[0] ?? {
      id: "",
    };
    expect((await api("DELETE", `grants/${id}`, undefined, viewer.token)).body["code"]).toBe(
      "grant_not_found",
    );
  });
});

describe("the last person who is a cluster admin", () => {
  const admins = async () =>
    grantsIn(await api("GET", "grants")).filter(
      ({ role, user }) => role === "cluster-admin" && user !== "local",
    );

  test("is neither disabled nor demoted, by its own role, its group or the permissions of a role", async () => {
    expect(await admins()).toHaveLength(1);
    const last = { status: 409, body: { code: "last_admin" } };
    const [first] = (await api("GET", "grants?user=ada")).body["items"] as { id: string }[];
    expect(await api("POST", "users/ada/disable", {})).toMatchObject(last);
    expect(await api("DELETE", `grants/${first?.id}`)).toMatchObject(last);
    await api("PUT", "roles/boss", { permissions: ["user_admin"] });
    await api("POST", "groups", { name: "bosses", members: ["ada"] });
    await api("POST", "grants", { role: "boss", group: "bosses" });
    expect((await api("DELETE", `grants/${first?.id}`)).status).toBe(200);
    expect(await api("PUT", "roles/boss", { permissions: ["task_view"] })).toMatchObject(last);
    expect(await api("DELETE", "roles/boss")).toMatchObject(last);
    expect(await api("DELETE", "groups/bosses")).toMatchObject(last);
    expect(await api("POST", "groups/bosses/members", { leave: ["ada"] })).toMatchObject(last);
    expect((await api("POST", "users/local/disable", {})).status).toBe(200);
    await gateway.append("user-local", { type: "UserEnabled", data: { by: "test" } });
    await expect.poll(async () => (await api("GET", "me")).status).toBe(200);
    expect((await api("POST", "grants", { role: "cluster-admin", user: "ada" })).status).toBe(200);
    expect((await api("DELETE", "groups/bosses")).status).toBe(200);
  });

  test("remains when two gateways end two admins at once", async () => {
    const ids = await Promise.all(
      ["r1", "r2"].map(async (name) => {
        await addUser(gateway, name);
        const given = await api("POST", "grants", { role: "cluster-admin", user: name });
        return (given.body["grant"] as { id: string }).id;
      }),
    );
    const [ada] = (await api("GET", "grants?user=ada")).body["items"] as { id: string }[];
    await api("DELETE", `grants/${ada?.id}`);
    for (let round = 0; round < 3; round += 1) {
      const races = await Promise.all([
        call(gateway.url, "POST", "users/r1/disable", {}),
        call(other, "POST", "users/r2/disable", {}),
      ]);
      expect(races.map(({ status }) => status).toSorted()).toEqual([200, 409]);
      for (const name of ["r1", "r2"]) await call(other, "POST", `users/${name}/enable`, {});
    }
    const mixed = await Promise.all([
      call(gateway.url, "POST", "users/r1/disable", {}),
      call(other, "DELETE", `grants/${ids[1]}`),
    ]);
    expect(mixed.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });
});
