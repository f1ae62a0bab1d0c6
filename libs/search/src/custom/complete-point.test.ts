import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampledPoint } from "../space/space.ts";
import { completePoint as givenPointOf } from "./complete-point.ts";

const space: HyperparameterSpace = {
  lr: { type: "log", base: 10, minval: -4, maxval: -1, count: null },
  units: { type: "int", minval: 4, maxval: 64, count: null },
  momentum: { type: "double", minval: 0, maxval: 1, count: null },
  net: {
    kind: { type: "categorical", vals: ["relu", { name: "elu", alpha: 1 }] },
    depth: { type: "const", val: [1, 2] },
  },
};
const completePoint = (
  of: HyperparameterSpace,
  given: JsonObject,
  constraints: string[] = [],
): ReturnType<typeof givenPointOf> => givenPointOf({ space: of, searcher: { constraints } }, given);

const good: JsonObject = { lr: 0.01, units: 8, momentum: 0.5, net: { kind: "relu" } };

describe("a given point", () => {
  it("is completed by constants, in the order of sorted keys", () => {
    const given = completePoint(space, good);
    expect(given).toEqual({ point: { ...good, net: { depth: [1, 2], kind: "relu" } } });
    expect(JSON.stringify(given)).toMatch(/"lr".*"momentum".*"net".*"depth".*"kind".*"units"/);
  });

  it("may be any point of the space", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 0xffff_ffff }),
        fc.integer({ min: 1, max: 1_000 }),
        (seed, trial) => {
          const point = sampledPoint(space, seed, trial);
          expect(completePoint(space, point)).toEqual({ point });
        },
      ),
    );
  });

  it("may have powers with another library's rounding, at both ends of the range", () => {
    expect(completePoint(space, { ...good, lr: 0.1 * (1 + 1e-12) })).toHaveProperty("point");
    expect(completePoint(space, { ...good, lr: 0.0001 * (1 - 1e-12) })).toHaveProperty("point");
    expect(completePoint(space, { ...good, lr: 0.1001 })).toHaveProperty("problems");
  });

  it("equals a point whose keys are in another order", () => {
    const net = { kind: { alpha: 1, name: "elu" } };
    expect(completePoint(space, { ...good, net })).toHaveProperty("point");
  });

  it("excludes hyperparameters whose condition is false, and must satisfy the constraints", () => {
    const conditional: HyperparameterSpace = {
      kind: { type: "categorical", vals: ["sgd", "adam"] },
      momentum: { type: "double", minval: 0, maxval: 1, count: null, when: { "/kind": ["sgd"] } },
      lr: { type: "double", minval: 0, maxval: 1, count: null },
    };
    const problems = (given: JsonObject, constraints?: string[]) => {
      const answer = completePoint(conditional, given, constraints);
      return "problems" in answer ? answer.problems : [];
    };
    expect(completePoint(conditional, { kind: "adam", lr: 0.5 })).toEqual({
      point: { kind: "adam", lr: 0.5 },
    });
    expect(problems({ kind: "sgd", lr: 0.5 })).toMatchObject([{ path: "momentum" }]);
    expect(problems({ kind: "adam", lr: 0.5, momentum: 0.5 })).toEqual([
      { path: "momentum", detail: "does not exist at this point: its condition is false" },
    ]);
    const narrow = ["lr < 0.1", "lr > 0"];
    expect(problems({ kind: "adam", lr: 0.5 }, narrow)).toEqual([
      { path: "", detail: "do not satisfy the constraint lr < 0.1" },
    ]);
    expect(problems({ kind: "adam", lr: 0.05 }, narrow)).toEqual([]);
  });

  const cases: readonly (readonly [string, JsonObject, string, RegExp])[] = [
    ["nothing", { net: good["net"] ?? null, units: 8, momentum: 0.5 }, "lr", /is missing/],
    ["text", { ...good, momentum: "0.5" }, "momentum", /must be a number, not/],
    ["null", { ...good, momentum: null }, "momentum", /must be a number, not/],
    ["a fraction", { ...good, units: 8.5 }, "units", /must be a whole number, not 8.5/],
    ["too large a number", { ...good, units: 65 }, "units", /must be between 4 and 64, not 65/],
    ["no choice", { ...good, net: { kind: "tanh" } }, "net.kind", /not one of its values/],
    ["another constant", { ...good, net: { kind: "relu", depth: 1 } }, "net.depth", /the constant/],
    ["a nest that is none", { ...good, net: 3 }, "net", /must be a mapping/],
    ["what is not there", { ...good, wd: 1 }, "wd", /is not a hyperparameter of the experiment/],
  ];
  it.each(cases)("is refused with %s", (_what, given, path, said) => {
    const answer = completePoint(space, given);
    expect("problems" in answer ? answer.problems : []).toContainEqual({
      path,
      detail: expect.stringMatching(said),
    });
  });
});
