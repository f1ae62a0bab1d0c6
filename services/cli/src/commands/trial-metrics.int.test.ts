import { afterEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway } from "../testing/played-gateway.ts";

let gateway: PlayedGateway | undefined;

afterEach(() => gateway?.[Symbol.asyncDispose]());

const point = (key: string, step: number, more: object = {}) => ({
  ...{ trial: "12.3", run: 1, group: "training", stepsCompleted: step, reportedAtMs: 1, key },
  ...{ metrics: { loss: step / 10 }, superseded: false, others: {}, ...more },
});

const event = (position: number, message: object): string =>
  `id: ${position}\ndata: ${JSON.stringify({ position: String(position), ...message })}\n\n`;

/** The gateway answers with two pages, and then with a stream. The point 0-3 is reported between the pages. */
const follow = () =>
  playGateway(({ call }) => {
    if (call.includes("metrics:follow")) {
      return {
        events: [
          ": trainyard\n\n",
          event(7, { point: point("0-3", 3) }),
          event(8, { point: point("0-4", 4) }),
          event(9, {}),
          event(10, { superseded: { trial: "12.3", run: 2, afterStep: 2 } }),
          event(11, { point: point("0-5", 5, { superseded: true }) }),
          event(12, { point: point("0-1", 3, { run: 2 }) }),
          "event: end\ndata: {}\n\n",
        ].join(""),
      };
    }
    const isFirst = !call.includes("pageToken=next");
    const items = isFirst ? [point("0-1", 1), point("0-2", 2)] : [point("0-3", 3)];
    const nextPageToken = isFirst ? "next" : "";
    return { body: { items, nextPageToken, position: "1", streamPosition: isFirst ? "6" : "7" } };
  });

test("trial metrics -f prints the stored points and then the new ones, each point once", async () => {
  gateway = await follow();
  const { code, lines, err } = await gateway.yard("trial", "metrics", "12.3", "-f");
  expect(code).toBe(0);
  expect(lines.filter((line) => line !== "")).toEqual([
    "run 1 training step 1 loss=0.1",
    "run 1 training step 2 loss=0.2",
    "run 1 training step 3 loss=0.3",
    "run 1 training step 4 loss=0.4",
    "run 2 training step 3 loss=0.3",
  ]);
  expect(err).toContain("run 2 repeats the steps after 2");
  expect(gateway.requests.at(-1)?.call).toMatch(/metrics:follow\?.*after=6/);
});

test("trial metrics -f --superseded marks superseded points; with -o json it prints one line per point", async () => {
  gateway = await follow();
  const shown = await gateway.yard("trial", "metrics", "12.3", "-f", "--superseded");
  expect(shown.out).toContain("run 1  training  step 5  loss=0.5  superseded");
  const { out } = await gateway.yard("-o", "json", "trial", "metrics", "12.3", "-f");
  const keys = out
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { key: string }).key);
  expect(keys).toEqual(["0-1", "0-2", "0-3", "0-4", "0-1"]);
});

test("trial metrics -f is refused together with options that cannot follow", async () => {
  gateway = await follow();
  for (const option of [["--names"], ["--export", "csv"], ["--series", "loss"]]) {
    const { code, err } = await gateway.yard("trial", "metrics", "12.3", "-f", ...option);
    expect([code, err]).toEqual([2, expect.stringContaining("--follow cannot be combined")]);
  }
});
