import { expect, test } from "vitest";
import type { VersionDocument } from "../views/documents.ts";
import { factsOf } from "./facts.ts";

const version: VersionDocument = {
  model: "m",
  number: 1,
  semanticVersion: "",
  aliases: [],
  checkpoint: "c",
  experiment: "1",
  trial: "1.1",
  run: 1,
  stepsCompleted: 10,
  metrics: {},
  codeDigest: "",
  searcherMetric: "",
  smallerIsBetter: true,
  description: "",
  notes: "",
  labels: [],
  registeredBy: "",
  registeredAtMs: 0,
  state: "REGISTERED",
  reason: "",
};
const number = (fact: string, value: number) => ({ fact, number: value, text: null });
const text = (fact: string, value: string) => ({ fact, number: null, text: value });

test("a version has facts of its step, metrics, hyperparameters, metadata and labels", () => {
  const facts = factsOf({
    ...version,
    semanticVersion: "1.0.0",
    labels: ["prod"],
    metrics: { loss: 0.5, worst: Number.NaN, most: Number.POSITIVE_INFINITY },
    hyperparameters: { optimizer: { lr: 0.1, name: "adam" }, layers: [1, 2] },
    metadata: { "a.b": 1, a: { b: 2 }, ok: true, none: null },
  });
  expect(facts).toEqual([
    number("step", 10),
    text("semver=1.0.0", ""),
    text("label=prod", ""),
    number("metrics.loss", 0.5),
    number("hparams.optimizer.lr", 0.1),
    text("hparams.optimizer.name", "adam"),
    text("hparams.layers", "[1,2]"),
    // Two different paths with the same spelling are one fact; the later one wins.
    number("metadata.a.b", 2),
    text("metadata.ok", "true"),
    text("metadata.none", "null"),
  ]);
});

test("a removed version has no facts", () =>
  expect(factsOf({ ...version, state: "REMOVED" })).toEqual([]));

test("values that cannot be indexed are left out of the facts", () => {
  const metadata = {
    ["n".repeat(600)]: 1,
    "a\0": 1,
    "b\ud800": 1,
    long: "x".repeat(2_000),
    nul: "\0",
  };
  expect(factsOf({ ...version, metadata })).toEqual([number("step", 10)]);
});

test("a version with thousands of keys has a limited number of facts", () => {
  const metadata = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`k${at}`, at]));
  expect(factsOf({ ...version, metadata })).toHaveLength(5_000);
});
