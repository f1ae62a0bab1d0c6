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

/** Trial 12.3 has loss in training, and accuracy and a note in validation; only loss has a series here. */
const series = (metrics: readonly (readonly [string, string, string])[]) =>
  playGateway(({ call }) => {
    if (call.includes("metric-names")) {
      return { body: { items: metrics.map(([group, name, kind]) => ({ group, name, kind })) } };
    }
    const names = [...call.matchAll(/names=([^&]*)/g)].map((match) => match[1] ?? "");
    const empty = { trial: "12.3", count: [], mean: [], min: [], max: [], last: [] };
    const inGroup = metrics.filter(([group, , kind]) => group === "training" && kind === "scalar");
    return {
      body: {
        series: names.map((name) =>
          inGroup.some((one) => one[1] === name) && !call.includes("from=")
            ? { ...empty, name, xMin: [1], xMax: [1], count: [1], mean: [0.5], last: [0.5] }
            : { ...empty, name, xMin: [], xMax: [] },
        ),
        position: "1",
      },
    };
  });

test("a series without points is refused with the group that has it, or with the metrics that are there", async () => {
  gateway = await series([
    ["training", "loss", "scalar"],
    ["validation", "accuracy", "scalar"],
    ["training", "note", "other"],
  ]);
  const of = async (...names: readonly string[]) => {
    const said = await gateway?.yard("trial", "metrics", "12.3", "--series", ...names);
    return [said?.code, said?.err, said?.out.includes("0.5")];
  };
  expect(await of("accuracy")).toEqual([
    2,
    "No points of accuracy in training; it is in validation: give --group validation.\n",
    false,
  ]);
  expect(await of("nosuch", "-o", "json")).toEqual([
    2,
    "No points of nosuch; the metrics are loss (training), accuracy (validation) and note (training).\n",
    false,
  ]);
  expect(await of("note")).toEqual([2, "The values of note in training are not numbers.\n", false]);
  expect(await of("loss")).toEqual([0, "", true]);
  expect(await of("loss", "accuracy")).toEqual([
    0,
    expect.stringContaining("it is in valid"),
    true,
  ]);
  expect(await of("loss", "--from", "9")).toEqual([
    0,
    "No points of loss in training match --x, --from and --to.\n",
    false,
  ]);
});

test("a series of a trial that has reported nothing yet is empty", async () => {
  gateway = await series([]);
  const said = await gateway.yard("trial", "metrics", "12.3", "--series", "loss", "-o", "json");
  expect([said.code, said.err]).toEqual([0, "There are no points yet.\n"]);
});
