/** Runs each command of docs/howto/share-a-cluster.md against a simulated gateway: the page has no wrong words. */
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { inputOf } from "./testing/input.ts";
import { type PlayedGateway, playGateway } from "./testing/played-gateway.ts";

const page = readFileSync(
  new URL("../../../docs/howto/share-a-cluster.md", import.meta.url),
  "utf8",
);
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)]
  .flatMap(([, block = ""]) => block.split("\n"))
  .filter((line) => line.startsWith("yard "));

const grant = { id: "r1", role: "editor", group: "everyone", workspace: "default" };

let gateway: PlayedGateway;
const folder = mkdtempDisposableSync(join(tmpdir(), "trainyard-share-"));

beforeAll(async () => {
  gateway = await playGateway(({ call }) => {
    if (call.startsWith("GET /api/v1/grants")) return { body: { items: [grant] } };
    if (call.endsWith(":finish")) return { body: { token: "t", user: "ada" } };
    return { body: {} };
  });
});
afterAll(async () => {
  folder.remove();
  await gateway[Symbol.asyncDispose]();
});

/** Splits a line as a shell does, with double quotes only. */
const wordsOf = (line: string): readonly string[] =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));

test("the page has commands of users, groups, roles, workspaces, tokens and sign-in", () => {
  const nouns = new Set(commands.map((line) => wordsOf(line)[1]));
  const all = ["group", "login", "role", "token", "user", "whoami", "workspace"];
  expect([...nouns].toSorted()).toEqual(all);
});

test.each(commands)("%s", async (line) => {
  vi.stubEnv("XDG_CONFIG_HOME", folder.path);
  using _stdin = inputOf("old\ncorrect horse\n");
  const own = line === "yard user password" ? `${line} --stdin` : line;
  const words = wordsOf(own.replace("http://lab.example:8080", gateway.url));
  expect(await gateway.yard(...words.slice(1))).toMatchObject({ code: 0 });
});
