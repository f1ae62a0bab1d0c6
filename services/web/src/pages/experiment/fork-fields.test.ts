import { describe, expect, it } from "vitest";
import { readFields, withField } from "./fork-fields.ts";

const text = `# my first search
name: digits
hyperparameters:
  lr: {type: log, minval: -4, maxval: -1} # of Adam
  layers:
    width:
      type: categorical
      vals:
        - 4
        - 8
  momentum: 0.90
  optimizer: "adam"
resources:
  slots_per_trial: 2
searcher: {name: random, metric: loss, max_trials: 4}
`;

const fieldsOf = (of: string) => {
  const read = readFields(of);
  return "fields" in read ? read.fields : { hyperparameters: [], resources: [] };
};
const edited = (path: string, value: string, of = text): string => {
  const result = withField(of, { path: path.split(".") }, value);
  return "text" in result ? result.text : result.problem;
};

describe("the fields of a fork", () => {
  it("are the constants and the bounds of ranges as they are written, and the resources", () => {
    const { hyperparameters, resources } = fieldsOf(text);
    expect(hyperparameters.map(({ label, text: value }) => [label, value])).toEqual([
      ["lr.minval", "-4"],
      ["lr.maxval", "-1"],
      ["layers.width.vals", "[4,8]"],
      ["momentum", "0.90"],
      ["optimizer", '"adam"'],
    ]);
    expect(resources.map(({ label, text: value }) => [label, value])).toEqual([
      ["Slots per trial", "2"],
      ["Pool", ""],
      ["Priority", ""],
      ["Restarts at most", ""],
    ]);
  });

  it("replace their value alone, with comments and order as they were", () => {
    expect(edited("hyperparameters.lr.minval", "-5")).toBe(text.replace("-4", "-5"));
    expect(edited("hyperparameters.momentum", "1e-3")).toBe(text.replace("0.90", "1e-3"));
    const list = edited("hyperparameters.layers.width.vals", "[4, 8, 16]");
    expect(fieldsOf(list).hyperparameters[2]?.text).toBe("[4, 8, 16]");
    expect(list).toContain("# of Adam");
  });

  it("add and remove a resource, and keep the comments", () => {
    const added = edited("resources.priority", "7");
    expect(fieldsOf(added).resources[2]?.text).toBe("7");
    expect(added).toContain("# my first search");
    const removed = edited("resources.slots_per_trial", "");
    expect(removed).not.toContain("resources");
    expect(fieldsOf(edited("max_restarts", "0")).resources[3]?.text).toBe("0");
  });

  it("refuse a value that would break the text", () => {
    for (const value of ["[1, 2", "a: b", '"open']) {
      expect(edited("hyperparameters.momentum", value)).toBe("This is no valid YAML value.");
    }
    expect(edited("hyperparameters.momentum", " ")).toBe("Enter a value.");
  });

  it("refuse a value that the text would read as another one, or that would change another key", () => {
    const flow = "hyperparameters: {lr: 0.1, layers: 2}\n";
    const refused = "The text would read another value here: write a decimal point, or quotes.";
    for (const value of ["0,05", "a, b", "1, name: x", "--- 1"]) {
      expect(edited("hyperparameters.lr", value, flow)).toBe(refused);
    }
    expect(edited("hyperparameters.lr", '"a, b"', flow)).toBe(flow.replace("0.1", '"a, b"'));
    const shared = "hyperparameters:\n  lr: &rate 0.1\n  other: *rate\n";
    expect(edited("hyperparameters.lr", "0.2", shared)).toBe(refused);
  });

  it("refuse a value for which the text has no place", () => {
    const refused = "The text has no place for this value: edit the text.";
    for (const resources of ["", "[1]", "*none"]) {
      const of = `name: digits\nresources: ${resources}\n`;
      expect(edited("resources.slots_per_trial", "4", of)).toBe(refused);
    }
    const shared = "resources:\n  slots_per_trial: &slots 2\nhyperparameters:\n  n: *slots\n";
    expect(edited("resources.slots_per_trial", "", shared)).toBe(refused);
  });

  it("have keys that are numbers", () => {
    const numbered = "hyperparameters:\n  layers: {1: 64, 2.50: 32} # widths\n";
    const [first, second] = fieldsOf(numbered).hyperparameters;
    expect([first?.label, second?.label]).toEqual(["layers.1", "layers.2.50"]);
    expect(withField(numbered, first ?? { path: [] }, "128")).toEqual({
      text: numbered.replace("64", "128"),
    });
    expect(withField(numbered, second ?? { path: [] }, "16")).toEqual({
      text: numbered.replace("32", "16"),
    });
  });

  it("are none in a text that is no valid YAML or no mapping, with the reason", () => {
    expect(readFields("name: [1")).toMatchObject({
      problem: expect.stringContaining("valid YAML"),
    });
    expect(readFields("a text")).toMatchObject({ problem: expect.stringContaining("mapping") });
    expect(readFields("a: 1\na: 2")).toHaveProperty("problem");
  });
});
