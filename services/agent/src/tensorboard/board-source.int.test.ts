import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { requestAsRun } from "../shell/delivery.ts";
import { launchOf } from "../testing/examples.ts";
import { type BoardFile, GatewayBoards } from "./board-source.ts";

const signal = new AbortController().signal;
let url = "";
let asked: string[] = [];
/** Whether the object store obeys ranges. */
let hasRanges = true;
let refusal: { readonly status: number; readonly code: string } | null = null;

/** A gateway and an object store with one trial of two files. */
const server = createServer((request, response) => {
  const { url: path = "", headers } = request;
  asked.push(`${path} ${headers.range ?? ""}`.trim());
  const json = (body: object, status = 200, kind = "application/json") => {
    response.writeHead(status, { "content-type": kind }).end(JSON.stringify(body));
  };
  if (path.startsWith("/store")) return store(request, response);
  if (headers.authorization !== "Bearer secret") return json({}, 401, "application/problem+json");
  if (refusal !== null) {
    return json({ code: refusal.code, detail: "no" }, refusal.status, "application/problem+json");
  }
  const { pathname, searchParams } = new URL(path, url);
  if (pathname.endsWith("/file")) {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    return void response.end("abcdef".slice(Number(searchParams.get("offset"))));
  }
  if (pathname.endsWith("/1.1")) {
    const after = searchParams.get("after");
    const request = { method: "GET", url: `${url}/store/b`, headers: {}, validMs: 1 };
    if (after === "") return json({ files: [{ path: "a", bytes: 6, changedAtMs: 1 }] });
    return json({ files: after === "a" ? [{ path: "b", bytes: 6, request }] : [] });
  }
  const more = searchParams.get("pageToken") === "";
  const trial = more ? "1.1" : "1.2";
  return json({ trials: [{ experiment: "1", trial }], nextPageToken: more ? "1:" : "" });
});

function store(request: IncomingMessage, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  if (from >= 6) return void response.writeHead(416).end();
  const isPart = hasRanges && from > 0;
  response.writeHead(isPart ? 206 : 200).end("ghijkl".slice(isPart ? from : 0));
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
  refusal = null;
});
afterAll(() => void server.close());

const boards = () => new GatewayBoards({ ...launchOf("t1#1"), token: "secret" }, url, requestAsRun);

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const textOf = async (file: BoardFile, offset: number): Promise<string> =>
  Buffer.concat(await all(boards().read("1.1", file, offset, signal))).toString();

test("all pages of trials and files are read", async () => {
  expect((await all(boards().trials(signal))).map(({ trial }) => trial)).toEqual(["1.1", "1.2"]);
  const pages = await all(boards().files("1.1", signal));
  expect(pages.flatMap(({ files }) => files.map(({ path }) => path))).toEqual(["a", "b"]);
});

test("a file of a directory is read through the gateway, and one of an object store by its request, from the offset", async () => {
  const [inDirectory, inStore] = (await all(boards().files("1.1", signal))).flatMap(
    ({ files }) => files,
  );
  if (inDirectory === undefined || inStore === undefined) throw new Error("no files");
  expect([await textOf(inDirectory, 0), await textOf(inDirectory, 4)]).toEqual(["abcdef", "ef"]);
  asked = [];
  expect([await textOf(inStore, 0), await textOf(inStore, 4)]).toEqual(["ghijkl", "kl"]);
  expect(asked).toEqual(["/store/b", "/store/b bytes=4-"]);
  hasRanges = false;
  expect(await textOf(inStore, 4)).toBe("kl");
  expect(await textOf(inStore, 6)).toBe("");
});

test.each([
  [403, "run_ended", true],
  [403, "task_ended", true],
  [410, "history_lost", true],
  [503, "unavailable", false],
  [429, "rate_limited", false],
  [403, "not_your_trial", false],
])("the answer %i %s is final: %s", async (status, code, over) => {
  refusal = { status, code };
  await expect(all(boards().trials(signal))).rejects.toMatchObject({ over });
});
