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
const edited = (path: string, value: string): string => {
  const result = withField(text, { path: path.split(".") }, value);
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

  it("are none in a text that is no valid YAML or no mapping, with the reason", () => {
    expect(readFields("name: [1")).toMatchObject({
      problem: expect.stringContaining("valid YAML"),
    });
    expect(readFields("a text")).toMatchObject({ problem: expect.stringContaining("mapping") });
    expect(readFields("a: 1\na: 2")).toHaveProperty("problem");
  });
});
