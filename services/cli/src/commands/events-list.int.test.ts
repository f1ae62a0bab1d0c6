/** Tests of the lists of events and stored files, and of the picture of a search, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

let gateway: PlayedGateway;

const event = (sequence: number, name: string) => ({
  id: "e",
  type: `dev.trainyard.experiment.${name}.v1`,
  subject: "experiment-12",
  time: "2023-11-14T22:13:20.000Z",
  sequence: String(sequence),
});

const file = { path: "train.py", bytes: 12, sha256: "ab".repeat(32) };

const picture = {
  version: 7,
  units: 18,
  algorithm: "asha",
  metric: "loss",
  phase: "running",
  brackets: [{ rungs: [{ units: 9, trials: 2, kept: 1, cutoff: 0.4125 }] }],
  trials: [
    {
      trial: "12.3",
      state: "stopped_early",
      time: 9,
      best: 0.5,
      reports: [{ rung: 0, time: 9, value: 0.5, rank: 2 }],
      decisions: [{ event: "TrialStopDecided", sentence: "halving: \u001b[2J is number 2" }],
    },
  ],
};

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    if (call.includes("/events:list")) {
      const isLast = call.includes("pageToken=more");
      const items = isLast ? [event(3, "ExperimentCreated")] : [event(9, "ExperimentPaused")];
      return { body: { items, nextPageToken: isLast ? "" : "more", position: "9" } };
    }
    if (call.includes("path=blob")) return { body: { file, binary: true } };
    if (call.includes("/files/text"))
      return { body: { file, text: "print(1)\n", truncated: true } };
    if (call.endsWith("/files") || call.includes("/files?")) return { body: { items: [file] } };
    if (call.includes("pageToken=next")) {
      return { body: { ...picture, trials: [{ ...picture.trials[0], trial: "12.4" }] } };
    }
    if (call.includes("/picture")) return { body: { ...picture, nextPageToken: "next" } };
    return problem(404, "not_found", "nothing is there");
  });
});

afterEach(() => gateway[Symbol.asyncDispose]());

const queries = (): readonly URLSearchParams[] =>
  gateway.requests.map(({ call }) => new URL(call.split(" ")[1] ?? "", "http://x").searchParams);

test("events of an object are listed newest first, page by page, by type and time", async () => {
  const ran = await gateway.yard(
    ...["events", "list", "experiment", "12", "--type", "ExperimentPaused"],
    ...["--type", "ExperimentCreated", "--since", "2026-01-02T03:04:05Z"],
  );
  expect(ran).toMatchObject({ code: 0 });
  expect(ran.out.match(/Experiment\w+/g)).toEqual(["ExperimentPaused", "ExperimentCreated"]);
  const [first, second] = queries();
  expect(first?.get("object")).toBe("experiment");
  expect(first?.getAll("types")).toEqual(["ExperimentPaused", "ExperimentCreated"]);
  expect(first?.get("fromMs")).toBe(String(Date.UTC(2026, 0, 2, 3, 4, 5)));
  expect(second?.get("pageToken")).toBe("more");
  expect((await gateway.yard("events", "list", "--limit", "1")).out.match(/Exp/g)).toHaveLength(1);
  expect((await gateway.yard("events", "list", "--since", "soon")).code).toBe(2);
});

test("stored files are listed, and a text is printed", async () => {
  expect((await gateway.yard("experiment", "files", "12")).out).toContain("train.py");
  const text = await gateway.yard("experiment", "files", "12", "train.py");
  expect([text.out, text.err]).toEqual(["print(1)\n", expect.stringContaining("first MiB")]);
  const blob = await gateway.yard("experiment", "files", "12", "blob");
  expect(blob).toMatchObject({ code: 1, err: expect.stringContaining("is not text") });
});

test("a picture shows the rungs, and each trial of all pages with its last decision", async () => {
  const { out, code } = await gateway.yard("search", "picture", "12", "--at", "7");
  expect(code).toBe(0);
  expect(out).toContain("0.4125");
  expect(out).toContain("0.5 (#2)");
  expect(out).toMatch(/12\.3[^]*12\.4/);
  expect(out).toContain("is number 2");
  expect(out).not.toContain("\u001b");
  expect(queries()[0]?.get("version")).toBe("7");
});
