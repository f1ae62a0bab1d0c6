/** Tests of conditions, constraints and given points: the resulting configuration and the refusal messages. */
import { describe, expect, it } from "vitest";
import { parseExperiment } from "../parse.ts";
import { config, defaults, parsed, problems, yaml } from "../testing/documents.ts";

const space = `
hyperparameters:
  optimizer: {type: categorical, vals: [sgd, adam]}
  momentum: {type: double, minval: 0, maxval: 1, when: {optimizer: sgd}}
  layers: {type: int, minval: 1, maxval: 4}
  batch-size: {type: int, minval: 1, maxval: 64}
  net:
    width: {type: int, minval: 1, maxval: 9, when: {layers: [2, 3]}}
    act: {type: categorical, vals: [relu, gelu]}
    slope: {type: log, minval: -3, maxval: 0, base: 10, when: {act: relu, layers: {maxval: 3}}}
`;
const searcher = (more: string): string =>
  `searcher: {name: random, metric: loss, max_trials: 9, ${more}}`;

describe("conditions", () => {
  it("are resolved beside the hyperparameter, then in enclosing nests, and written with absolute paths", () => {
    expect(config(space).hyperparameters).toMatchObject({
      momentum: { type: "double", when: { "/optimizer": ["sgd"] } },
      net: {
        width: { when: { "/layers": [2, 3] } },
        slope: { when: { "/net/act": ["relu"], "/layers": { maxval: 3 } } },
      },
    });
  });

  it("of a nest apply to every hyperparameter in it, together with its other conditions", () => {
    const nested = `
hyperparameters:
  layers: {type: int, minval: 1, maxval: 4}
  kind: {type: categorical, vals: [cnn, mlp]}
  cnn:
    type: nested
    when: {kind: cnn, layers: {minval: 2}}
    hyperparameters:
      filters: 8
      more: {deep: {type: int, minval: 1, maxval: 2, when: {layers: [1, 2, 3]}}}
  plain: {type: nested, hyperparameters: {x: 1}}
`;
    expect(config(nested).hyperparameters).toMatchObject({
      cnn: {
        filters: { type: "const", val: 8, when: { "/kind": ["cnn"], "/layers": { minval: 2 } } },
        more: { deep: { when: { "/kind": ["cnn"], "/layers": [2, 3] } } },
      },
      plain: { x: { type: "const", val: 1 } },
    });
  });

  it("are unchanged when the result is read again", () => {
    const once = parsed(yaml(space));
    expect(parseExperiment(JSON.stringify(once.config), { defaults })).toEqual(once);
  });

  it.each([
    [
      "{optimizr: sgd}",
      'hyperparameters.momentum.when.optimizr is not a hyperparameter; "optimizer" is',
    ],
    [
      "{optimizer: sgdd}",
      'hyperparameters.momentum.when.optimizer is never true: "sgdd" is not a value of optimizer',
    ],
    ["{optimizer: []}", "hyperparameters.momentum.when.optimizer names no value"],
    [
      "{layers: 9}",
      "hyperparameters.momentum.when.layers is never true: 9 is not a value of layers",
    ],
    [
      "{layers: {minval: 5}}",
      "hyperparameters.momentum.when.layers is never true: layers has no value in it",
    ],
    [
      "{net.slope: 3}",
      'hyperparameters.momentum.when["net.slope"] compares net.slope, a log, with single values: give a range, {minval: …, maxval: …}',
    ],
    ["{net: 3}", "hyperparameters.momentum.when.net is not a hyperparameter"],
    [
      "{momentum: {minval: 0.5}}",
      "hyperparameters.momentum.when depends on itself: momentum → momentum",
    ],
    [
      "{}",
      "hyperparameters.momentum.when is empty: it names hyperparameters with their values, for example {optimizer: sgd}",
    ],
    ["sgd", 'hyperparameters.momentum.when must be a mapping, not "sgd"'],
  ])("are refused: %s", (when, problem) => {
    expect(problems(yaml(space.replace("{optimizer: sgd}", when)))).toEqual([problem]);
  });

  it("are refused if they are circular or belong to an empty nest", () => {
    const circle = `
hyperparameters:
  a: {type: int, minval: 0, maxval: 1, when: {b: 1}}
  b: {type: int, minval: 0, maxval: 1, when: {c: 1}}
  c: {type: int, minval: 0, maxval: 1, when: {a: 1}}
`;
    expect(problems(yaml(circle))).toEqual([
      "hyperparameters.a.when depends on itself: a → b → c → a",
    ]);
    const empty = "hyperparameters: {a: 1, n: {type: nested, when: {a: 1}, hyperparameters: {}}}";
    expect(problems(yaml(empty))).toEqual([
      "hyperparameters.n.hyperparameters is empty: name the hyperparameters that the condition is for",
    ]);
  });
});

describe("constraints", () => {
  it("can be one expression or a list", () => {
    const one = config(space + searcher("constraints: layers * 2 <= 6"));
    expect(one.searcher.constraints).toEqual(["layers * 2 <= 6"]);
    const two = config(
      `${space}searcher: {name: asha, metric: m, max_trials: 9, max_time: 9, constraints: [layers < 3, not layers == 1]}`,
    );
    expect(two.searcher.constraints).toEqual(["layers < 3", "not layers == 1"]);
  });

  it.each([
    ["layers <", 'ends where a value is expected (column 9 of "layers <")'],
    [
      "2 < layer",
      'names layer, which is not a hyperparameter; "layers" is (column 5 of "2 < layer")',
    ],
    [
      "net.wide > 1",
      'names net.wide, which is not a hyperparameter; "net.width" is (column 1 of "net.wide > 1")',
    ],
    [
      "net > 1",
      'names net, which is a group of hyperparameters: name one of them (column 1 of "net > 1")',
    ],
    [
      "batch-size < 9",
      'names batch, which is not a hyperparameter; write `batch-size` (column 1 of "batch-size < 9")',
    ],
    ["1 + optimizer > 1", 'has a text where "+" takes a number (column 5 of "1 + optimizer > 1")'],
    ["layers in 3", 'has a number where "in" takes a list (column 11 of "layers in 3")'],
    ["not layers", 'has a number where "not" takes true or false (column 5 of "not layers")'],
    ["layers * 2", "is not a condition: it must be true or false, for example batch_size <= 512"],
    ["1 < 2", 'names no hyperparameter: "1 < 2"'],
    [
      "layers < 3 or optimizer == 'sdg'",
      'compares optimizer with "sdg", which is not one of its values (column 28 of "layers < 3 or optimizer == \'sdg\'")',
    ],
    [
      "net.act in ['relu', 'silu']",
      "compares net.act with \"silu\", which is not one of its values (column 21 of \"net.act in ['relu', 'silu']\")",
    ],
  ])("are refused: %s", (constraint, problem) => {
    const text = space + searcher(`constraints: [layers < 3, ${JSON.stringify(constraint)}]`);
    expect(problems(yaml(text))).toEqual([`searcher.constraints[1] ${problem}`]);
  });
});

it("constraints must be expressions and cannot be programs", () => {
  const long = `layers < ${"1 + ".repeat(400)}1`;
  const text =
    space +
    searcher(`constraints: [${[long, long, long].map((one) => JSON.stringify(one)).join()}]`);
  expect(problems(yaml(text))).toEqual([
    "searcher.constraints are 4830 characters long together; the limit is 4000",
  ]);
});

describe("given points", () => {
  it.each([
    ["{layers: 9}", ".layers must be between 1 and 4, not 9"],
    ["{layers: 1.5}", ".layers must be a whole number, not 1.5"],
    ["{layer: 1}", '.layer is not a hyperparameter; "layers" is'],
    ["{net: 1}", ".net must be a mapping, not 1"],
    ["{net: {slope: 2}}", ".net.slope must be between 0.001 and 1, not 2"],
    ["{momentum: sgd}", '.momentum must be a number, not "sgd"'],
    ["{optimizer: lamb}", '.optimizer is "lamb", which is not one of its values'],
  ])("are refused: %s", (point, problem) => {
    const text = space + searcher(`warm_start: {points: [{}, ${point}]}`);
    expect(problems(yaml(text))).toEqual([`searcher.warm_start.points[1]${problem}`]);
  });

  it("may omit hyperparameters, and may be on the bounds", () => {
    const text = space + searcher("warm_start: {points: [{net: {slope: 0.001}, layers: 4}]}");
    expect(config(text).searcher.warm_start).toEqual({
      points: [{ layers: 4, net: { slope: 0.001 } }],
    });
  });
});
