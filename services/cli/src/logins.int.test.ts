import { chmodSync, mkdirSync, mkdtempDisposableSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { requireAccess } from "./connection.ts";
import { loginsFile, readLogins, writeLogins } from "./logins.ts";
import { inputOf } from "./testing/input.ts";
import { playGateway, problem } from "./testing/played-gateway.ts";

let folder: ReturnType<typeof mkdtempDisposableSync>;

beforeEach(() => {
  folder = mkdtempDisposableSync(join(tmpdir(), "trainyard-logins-"));
  vi.stubEnv("XDG_CONFIG_HOME", join(folder.path, "config"));
  for (const name of ["URL", "TOKEN", "CLUSTER", "HOME"]) {
    vi.stubEnv(`TRAINYARD_${name}`, undefined);
  }
});
afterEach(() => {
  vi.unstubAllEnvs();
  folder.remove();
});

const access = (name: string) => ({ url: `http://${name}:1`, token: `token of ${name}` });

function home(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  writeFileSync(join(path, "cluster.json"), JSON.stringify({ api: access(name).url }));
  writeFileSync(join(path, "token"), `${access(name).token}\n`);
  return path;
}

test("variables, a named login, TRAINYARD_HOME and the current login name the cluster, in this order", () => {
  writeLogins({ current: "b", clusters: { a: access("a"), b: access("b") } });
  expect(statSync(loginsFile()).mode & 0o777).toBe(0o600);
  expect(requireAccess()).toEqual(access("b"));
  vi.stubEnv("TRAINYARD_HOME", home("h"));
  expect(requireAccess()).toEqual(access("h"));
  vi.stubEnv("TRAINYARD_CLUSTER", "a");
  expect(requireAccess()).toEqual(access("a"));
  vi.stubEnv("TRAINYARD_URL", "http://e:1");
  vi.stubEnv("TRAINYARD_TOKEN", "e");
  expect(requireAccess()).toEqual({ url: "http://e:1", token: "e" });
  vi.stubEnv("TRAINYARD_URL", undefined);
  vi.stubEnv("TRAINYARD_CLUSTER", "c");
  expect(requireAccess).toThrow('no login with the name "c"');
});

test("a token is sent only to the address that it belongs to", () => {
  writeLogins({ current: "b", clusters: { a: access("a"), b: access("b") } });
  vi.stubEnv("TRAINYARD_HOME", home("h"));
  vi.stubEnv("TRAINYARD_URL", "http://a:1/");
  expect(requireAccess()).toEqual(access("a"));
  vi.stubEnv("TRAINYARD_URL", "http://h:1");
  expect(requireAccess()).toEqual(access("h"));
  vi.stubEnv("TRAINYARD_URL", "http://other:1");
  expect(requireAccess).toThrow("no token for http://other:1");
});

test("a file of logins that others can read, or that is damaged, is refused", () => {
  mkdirSync(dirname(loginsFile()), { recursive: true });
  writeFileSync(loginsFile(), '{"clusters": {"a": {"url": 7}}}', { mode: 0o600 });
  expect(readLogins).toThrow("is damaged");
  chmodSync(loginsFile(), 0o644);
  expect(readLogins).toThrow(`run chmod 600 ${loginsFile()}`);
});

test("yard login stores the embedded cluster only after it has taken the token, and yard logout forgets it", async () => {
  let refused = true;
  await using gateway = await playGateway(() =>
    refused ? problem(401, "unauthenticated", "invalid token") : { body: {} },
  );
  // `yard` of the simulated gateway ends with the environment as it was before the test.
  const login = async (...args: readonly string[]) => {
    const path = join(folder.path, "embedded");
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "token"), "secret\n");
    writeFileSync(join(path, "cluster.json"), JSON.stringify({ api: gateway.url }));
    vi.stubEnv("XDG_CONFIG_HOME", join(folder.path, "config"));
    vi.stubEnv("TRAINYARD_HOME", path);
    return await gateway.yard(...args);
  };
  expect(await login("login")).toMatchObject({ code: 2, err: "Invalid token.\n" });
  refused = false;
  expect(await login("login", "--name", "lab")).toMatchObject({
    code: 0,
    lines: ["logged in to lab"],
  });
  expect(await login("login", "ftp://a")).toMatchObject({ code: 2 });
  vi.stubEnv("XDG_CONFIG_HOME", join(folder.path, "config"));
  const clusters = { lab: { url: gateway.url, token: "secret" } };
  expect(readLogins()).toEqual({ current: "lab", clusters });
  expect(await login("logout")).toMatchObject({ code: 0 });
  expect(await login("logout")).toMatchObject({ code: 2, err: "There is no login to forget.\n" });
  expect(await login("logout", "lab")).toMatchObject({ code: 2 });
});

test("yard login stores the token of the person who confirmed, and yard logout revokes it", async () => {
  await using gateway = await playGateway(({ call }) => {
    if (call.endsWith("device-logins")) return { body: { path: "/device?code=B", secret: "s" } };
    if (call.endsWith(":finish")) return { body: { token: "secret", user: "ada" } };
    return { body: { token: "k1" } };
  });
  const yard = async (...args: readonly string[]) => {
    vi.stubEnv("XDG_CONFIG_HOME", join(folder.path, "config"));
    return await gateway.yard(...args);
  };
  const login = await yard("login", `${gateway.url}/`, "--name", "lab");
  expect(login).toMatchObject({ code: 0, lines: ["logged in to lab as ada"] });
  expect(login.err).toContain(`open ${gateway.url}/device?code=B in a browser`);
  vi.stubEnv("XDG_CONFIG_HOME", join(folder.path, "config"));
  expect(readLogins().clusters).toEqual({
    lab: { url: gateway.url, token: "secret", user: "ada" },
  });
  expect(await yard("logout")).toMatchObject({ code: 0, lines: ["logged out of lab"] });
  expect(gateway.requests.slice(-2).map(({ call }) => call)).toEqual([
    "GET /api/v1/sessions/current",
    "DELETE /api/v1/tokens/k1",
  ]);
});

test("a token that was given to yard login stays valid after yard logout", async () => {
  await using gateway = await playGateway(() => ({ body: {} }));
  const yard = async (...args: readonly string[]) => {
    vi.stubEnv("XDG_CONFIG_HOME", join(folder.path, "config"));
    return await gateway.yard(...args);
  };
  using _stdin = inputOf("secret\n");
  expect(await yard("login", gateway.url, "--token")).toMatchObject({ code: 0 });
  expect(await yard("logout")).toMatchObject({ code: 0 });
  expect(gateway.requests.map(({ call }) => call)).toEqual([
    expect.stringMatching(/^GET \/api\/v1\/experiments/),
  ]);
});
