import { expect, test } from "vitest";
import { packagesThatDiffer } from "./packages.ts";

const environment = (experiment: string, python: string, packages: Record<string, string>) => ({
  experiment,
  python,
  packages,
  run: `${experiment}.1#1`,
});
const environments = [
  environment("12", "3.12.1", { numpy: "2.1", torch: "2.5", only: "1" }),
  environment("13", "3.12.1", { numpy: "2.0", torch: "2.5" }),
  environment("14", "3.13.0", { numpy: "2.1", torch: "2.5", only: "1", constructor: "7" }),
];

test("packages are compared with those of the base, and equal ones are left out", () => {
  expect(packagesThatDiffer(environments, "12", ["13", "14"])).toEqual([
    { name: "python", versions: ["3.12.1", "3.12.1", "3.13.0"] },
    { name: "constructor", versions: ["", "", "7"] },
    { name: "numpy", versions: ["2.1", "2.0", "2.1"] },
    { name: "only", versions: ["1", "", "1"] },
  ]);
  expect(packagesThatDiffer(environments, "12", ["12"])).toEqual([]);
});

test("an experiment without a recorded environment differs in nothing", () => {
  expect(packagesThatDiffer(environments, "12", ["15"])).toEqual([]);
});
