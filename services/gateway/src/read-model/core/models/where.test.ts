import { describe, expect, test } from "vitest";
import { readCondition } from "./where.ts";

const value = (fact: string, operator: string, text: string, number: number | null) => ({
  kind: "value",
  fact,
  operator,
  text,
  number,
});

describe("a condition", () => {
  test.each([
    ["metrics.loss<0.5", value("metrics.loss", "<", "0.5", 0.5)],
    ["metrics.val/loss >= -1e-3", value("metrics.val/loss", ">=", "-1e-3", -0.001)],
    ["hparams.optimizer.lr==0.1", value("hparams.optimizer.lr", "=", "0.1", 0.1)],
    ["metadata.dataset=v2", value("metadata.dataset", "=", "v2", null)],
    ["metadata.dataset = two words ", value("metadata.dataset", "=", "two words", null)],
    ['metadata.code="12"', value("metadata.code", "=", "12", null)],
    ['metadata.empty=""', value("metadata.empty", "=", "", null)],
    ['metrics."top 1<2">0.9', value("metrics.top 1<2", ">", "0.9", 0.9)],
    ["step>100", value("step", ">", "100", 100)],
    ["hparams.x!=relu", value("hparams.x", "!=", "relu", null)],
    ["label=prod", { kind: "label", fact: "label=prod", has: true }],
    ["label!=a b", { kind: "label", fact: "label=a b", has: false }],
  ])("%j is read", (text, expected) => expect(readCondition(text)).toEqual(expected));

  test.each([
    ["loss<0.5", "is no condition: write metrics.NAME"],
    ["", "is no condition"],
    ["metrics.<1", "is no condition"],
    ["metrics.loss", "is no condition"],
    ["metrics.loss<", "lacks a value"],
    ["metrics.loss<high", 'compares by size, and "high" is no number'],
    ["metrics.loss<1e999", "compares by size"],
    ["label<prod", "compares a label"],
    ['metrics."loss>1', "is no condition"],
    ['metadata.a="b', "has a text that is not valid JSON"],
    ['metadata."\\u0000"=1', "has a character that no name has"],
    ["metadata.a=\ud800", "has a character that no name has"],
    [`metadata.a=${" ".repeat(100_000)}b`, "is no condition"],
  ])("%j is refused with a reason", (text, reason) =>
    expect(readCondition(text)).toEqual(expect.stringContaining(reason)),
  );
});
