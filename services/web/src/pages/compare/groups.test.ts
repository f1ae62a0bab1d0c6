import { expect, test } from "vitest";
import { exampleComparison } from "./testing/example-comparison.ts";
import { groupChoices, groupsOf } from "./groups.ts";

const experiments = [
  { id: "12", labels: ["b", "a"], searcher: "asha" },
  { id: "13", labels: [], searcher: "asha" },
];
const { trials } = exampleComparison(
  [
    { id: "12.1", hyperparameters: { lr: 0.1, optimizer: { name: "sgd" } } },
    { id: "12.2", hyperparameters: { lr: 0.01, optimizer: { name: "adam" } } },
    { id: "13.1", hyperparameters: { optimizer: { name: "sgd" } } },
    { id: "13.2", hyperparameters: { lr: 0.1, optimizer: { name: "sgd" } } },
  ],
  experiments,
);
const named = (by: Parameters<typeof groupsOf>[1]) =>
  groupsOf(trials, by).map(({ name, look, trials: members }) => [look, name, members.join(" ")]);

test("trials are grouped by a hyperparameter, in the order of its values", () => {
  expect(named({ kind: "hyperparameter", name: "lr" })).toEqual([
    [1, "lr 0.01", "12.2"],
    [2, "lr 0.1", "12.1 13.2"],
    [3, "no lr", "13.1"],
  ]);
  expect(named({ kind: "hyperparameter", name: "optimizer.name" })).toEqual([
    [1, "optimizer.name sgd", "12.1 13.1 13.2"],
    [2, "optimizer.name adam", "12.2"],
  ]);
});

test("trials are grouped by what their experiments have, and each trial is in one group", () => {
  expect(named({ kind: "experiment" })).toEqual([
    [1, "12 name 12", "12.1 12.2"],
    [2, "13 name 13", "13.1 13.2"],
  ]);
  expect(named({ kind: "label" })).toEqual([
    [1, "a, b", "12.1 12.2"],
    [2, "no label", "13.1 13.2"],
  ]);
  expect(named({ kind: "searcher" })).toEqual([[1, "asha", "12.1 12.2 13.1 13.2"]]);
});

test("groups are offered that tell trials apart, and the chosen one", () => {
  const texts = (chosen: Parameters<typeof groupChoices>[1]) =>
    groupChoices(trials, chosen).map(({ text }) => text);
  const useful = ["experiment", "label", "hyperparameter:lr", "hyperparameter:optimizer.name"];
  expect(texts(null)).toEqual(useful);
  expect(texts({ kind: "searcher" })).toEqual([...useful, "searcher"]);
  expect(texts({ kind: "label" })).toEqual(useful);
});
