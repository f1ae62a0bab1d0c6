/** Tests of searches with several metrics: the resulting configuration and the refusal messages. */
import { describe, expect, it } from "vitest";
import { parseExperiment } from "../parse.ts";
import { config, defaults, parsed, problems, yaml } from "../testing/documents.ts";

const two = "objectives: [{metric: loss}, {metric: speed, smaller_is_better: false}]";
const searcher = (more: string, name = "tpe"): string =>
  `searcher: {name: ${name}, max_trials: 9, ${more}}`;

describe("objectives", () => {
  it.each(["random", "sobol", "grid", "tpe"])(
    "of %s are written out, and the first one becomes the metric",
    (name) => {
      expect(config(searcher(two, name)).searcher).toMatchObject({
        name,
        metric: "loss",
        smaller_is_better: true,
        objectives: [
          { metric: "loss", smaller_is_better: true },
          { metric: "speed", smaller_is_better: false },
        ],
      });
    },
  );

  it("set the direction from the first objective", () => {
    const first = "objectives: [{metric: accuracy, smaller_is_better: false}, {metric: loss}]";
    const { searcher: normalised } = config(searcher(first));
    expect(normalised).toMatchObject({ metric: "accuracy", smaller_is_better: false });
  });

  it("are unchanged when the result is read again", () => {
    const once = parsed(yaml(searcher(two)));
    expect(parseExperiment(JSON.stringify(once.config), { defaults })).toEqual(once);
  });

  it("are absent if there is only one metric", () => {
    expect(config(searcher("metric: loss")).searcher).not.toHaveProperty("objectives");
  });

  it.each([
    [
      "metric: speed, " + two,
      /^searcher\.metric must be the metric of the first objective, "loss"/,
    ],
    [
      "smaller_is_better: false, " + two,
      /^searcher\.smaller_is_better must be true, as in the first objective/,
    ],
    ["objectives: []", /^searcher\.objectives is empty/],
    [
      "objectives: [{metric: a}, {metric: a}]",
      /^searcher\.objectives\[1\]\.metric is "a", which another/,
    ],
    ["objectives: [{metric: a}, {}]", /^searcher\.objectives\[1\]\.metric is missing/],
    ["metric: a, objectives: [a]", /^searcher\.objectives\[0\] must be a mapping/],
    ["objectives: [{metric: a, weight: 2}]", /weight/],
  ])("are refused: %s", (more, words) => {
    expect(problems(yaml(searcher(more)))).toContainEqual(expect.stringMatching(words));
  });

  it("are refused for a searcher that cannot use them", () => {
    expect(problems(yaml(searcher("metric: loss, " + two, "gp")))).toContainEqual(
      expect.stringMatching(/^searcher\.objectives is not/),
    );
  });
});
