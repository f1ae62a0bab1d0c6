import { Client } from "@trainyard/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { logSource } from "./source.ts";

const never = new AbortController().signal;

/** A client whose requests the test answers, by their query. */
function answering(answer: (path: string, query: URLSearchParams) => object): Client {
  const fetchOfBefore = globalThis.fetch;
  onTestFinished(() => {
    globalThis.fetch = fetchOfBefore;
  });
  globalThis.fetch = async (input) => {
    const url = new URL(String(input));
    return Response.json(answer(url.pathname, url.searchParams));
  };
  return new Client({ url: "http://platform.test" });
}

const items = (...cursors: readonly number[]) => cursors.map((cursor) => ({ cursor: `${cursor}` }));

describe("the source of lines", () => {
  it("reads lines of a trial or an experiment, with the conditions, in either direction", async () => {
    const asked: string[] = [];
    const client = answering((path, query) => {
      asked.push(`${path}?${query}`);
      return { items: items(5), nextPageToken: "5", before: "5" };
    });
    const trial = logSource(client, { trial: "1.2" }, { level: "error" });
    expect(await trial.read({ after: "4" }, never)).toMatchObject({ next: "5" });
    const experiment = logSource(client, { experiment: "1" }, {});
    expect(await experiment.read({ before: "9" }, never)).toMatchObject({ next: "5" });
    expect(asked).toEqual([
      "/api/v1/trials/1.2/logs?pageSize=500&level=error&after=4",
      "/api/v1/experiments/1/logs?tail=500&before=9",
    ]);
  });

  it("stops reading when the answer reports that no more lines follow", async () => {
    const client = answering(() => ({ items: [] }));
    const source = logSource(client, { trial: "1.2" }, {});
    expect(await source.read({ after: "4" }, never)).toMatchObject({ next: null, lines: [] });
    expect(await source.read({ before: "4" }, never)).toMatchObject({ next: null });
  });

  it("knows the end of the log even if no line matches the conditions", async () => {
    const client = answering((_, query) =>
      query.has("contains")
        ? { items: query.get("contains") === "rare" ? [] : items(998, 1_001), before: "700" }
        : { items: items(1_000) },
    );
    const rare = logSource(client, { trial: "1.2" }, { contains: "rare" });
    expect(await rare.last(never)).toMatchObject({ lines: [], next: "700", end: "1000" });
    const common = logSource(client, { trial: "1.2" }, { contains: "common" });
    expect(await common.last(never)).toMatchObject({ end: "1001" });
  });
});
