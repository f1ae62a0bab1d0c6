/** Tests of `yard trial logs` and `yard experiment logs`, with a simulated gateway. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway } from "../testing/played-gateway.ts";

const line = (text: string) => ({ trial: "12.3", run: 1, text, cursor: text, level: "error" });

let gateway: PlayedGateway;
let folder: string;

/**
 * The gateway has three pages forwards, the second of which is empty, and two backwards, the first of which is short.
 */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-cli-"));
  gateway = await playGateway(({ call }) => {
    const query = new URL(call.split(" ")[1] ?? "", "http://gateway").searchParams;
    if (query.has("tail")) {
      return query.get("before") === "4"
        ? { body: { items: [line("2"), line("3")], before: "2" } }
        : { body: { items: [line("4")], before: "4" } };
    }
    const pages: Readonly<Record<string, object>> = {
      a: { items: [], nextPageToken: "b" },
      b: { items: [line("last")], removed: { lines: 9, untilMs: 0 } },
      removed: { items: [], removed: { lines: 9, untilMs: Date.UTC(2026, 10, 22) } },
    };
    const first = { items: [line("first")], nextPageToken: "a" };
    if (query.get("after") === "0") return { body: pages["removed"] ?? {} };
    return { body: pages[query.get("pageToken") ?? ""] ?? first };
  });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const queryOf = (call = "") =>
  Object.fromEntries(new URL(call.split(" ")[1] ?? "", "http://gateway").searchParams);

test("logs prints all pages, also those after an empty page", async () => {
  expect((await gateway.yard("trial", "logs", "12.3")).lines).toEqual(["first", "last"]);
  expect((await gateway.yard("experiment", "logs", "12")).lines).toEqual([
    "[12.3] first",
    "[12.3] last",
  ]);
  const paths = gateway.requests.map(({ call }) => call.replace(/\?.*/, ""));
  expect([...new Set(paths)]).toEqual([
    "GET /api/v1/trials/12.3/logs",
    "GET /api/v1/experiments/12/logs",
  ]);
});

test("each filter option of logs is sent in the request", async () => {
  const filters = ["--run", "2", "--node", "1", "--rank", "0", "--stream", "stderr"];
  const texts = ["--contains", "a b", "--grep", "^x", "--search", "gpu lost"];
  const range = [
    "--level",
    "warning",
    "--until",
    "2026-11-22T10:00:00Z",
    "--after",
    "5",
    "--before",
    "9",
  ];
  await gateway.yard("trial", "logs", "12.3", ...filters, ...texts, ...range);
  expect(queryOf(gateway.requests[0]?.call)).toEqual({
    run: "2",
    nodeRank: "1",
    rank: "0",
    source: "stderr",
    contains: "a b",
    matches: "^x",
    search: "gpu lost",
    level: "warning",
    untilMs: String(Date.UTC(2026, 10, 22, 10)),
    after: "5",
    before: "9",
    pageSize: "1000",
  });
  await gateway.yard("trial", "logs", "12.3", "--since", "10m");
  const since = Number(queryOf(gateway.requests.at(-1)?.call)["fromMs"]);
  expect(Math.abs(Date.now() - 600_000 - since)).toBeLessThan(60_000);
});

test("--tail prints the last lines in their order, even if they come in several pages", async () => {
  const { lines } = await gateway.yard("trial", "logs", "12.3", "--tail", "3");
  expect(lines).toEqual(["2", "3", "4"]);
  expect(queryOf(gateway.requests[1]?.call)).toMatchObject({ tail: "2", before: "4" });
});

test("--save writes the lines into a file, as text or as JSON Lines", async () => {
  const path = join(folder, "lines");
  expect((await gateway.yard("trial", "logs", "12.3", "--save", path)).out).toBe("");
  expect(await readFile(path, "utf8")).toBe("first\nlast\n");
  await gateway.yard("-o", "json", "trial", "logs", "12.3", "--save", path);
  const written = (await readFile(path, "utf8")).trimEnd().split("\n");
  expect(written.map((one) => JSON.parse(one) as object)).toMatchObject([
    line("first"),
    line("last"),
  ]);
});

test.each([
  [["--since", "soon"], "--since takes 10m, 2h, 7d (ago), or a date and time"],
  [["--rank", "x"], "--rank takes a whole number"],
  [["--tail", "0"], "--tail takes a whole number, at least 1"],
  [["--level", "loud"], "trace, debug, info, warning, error, critical"],
  [["--follow", "--tail", "3"], "--tail cannot be combined with --follow"],
  [["--save", "/nowhere/lines"], "/nowhere/lines cannot be written: ENOENT"],
])("%j is refused with a sentence, and no request is sent", async (args, sentence) => {
  const { code, err } = await gateway.yard("trial", "logs", "12.3", ...args);
  expect(code).toBe(2);
  expect(err).toContain(sentence);
  expect(gateway.requests).toEqual([]);
});

test("lines that retention has removed are counted on stderr", async () => {
  const { out, err } = await gateway.yard("trial", "logs", "12.3", "--after", "0");
  expect(out).toBe("");
  expect(err).toBe(
    "retention has removed 9 lines of the experiment, received until 2026-11-22 00:00:00\n",
  );
});
