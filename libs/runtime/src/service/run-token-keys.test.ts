import { expect, test } from "vitest";
import { z } from "zod";
import { readRunToken, runToken } from "../run-token.ts";
import { parseEnvironment } from "./environment.ts";
import { runTokenKeysOf, runTokenVariables, signingKeyOf } from "./run-token-keys.ts";

const schema = z.object(runTokenVariables);
const grantId = "01890a5d-ac96-774b-bcce-b302099a8057";
const [first, second] = ["07".repeat(32), "ab".repeat(32)];

function settings(key: string, id: string, others = ""): z.output<typeof schema> {
  return parseEnvironment(schema, {
    TRAINYARD_RUN_TOKEN_KEY: key,
    TRAINYARD_RUN_TOKEN_KEY_ID: id,
    TRAINYARD_RUN_TOKEN_OTHER_KEYS: others,
  });
}

test("in each step of a rotation the tokens of both keys are valid, and at its end only those of the new key", () => {
  const old = runToken(signingKeyOf(settings(first, "1")), {
    allocation: "7.1#1",
    grantPosition: 40,
    grantId,
  });
  const next = runToken(signingKeyOf(settings(second, "2")), {
    allocation: "7.1#2",
    grantPosition: 50,
    grantId,
  });
  const validIn = (...asked: Parameters<typeof settings>): readonly (string | undefined)[] =>
    [old, next].map((token) => readRunToken(runTokenKeysOf(settings(...asked)), token)?.allocation);
  expect(validIn(first, "1")).toEqual(["7.1#1", undefined]);
  expect(validIn(first, "1", `2=${second}`)).toEqual(["7.1#1", "7.1#2"]);
  expect(validIn(second, "2", `1=${first}`)).toEqual(["7.1#1", "7.1#2"]);
  expect(validIn(second, "2")).toEqual([undefined, "7.1#2"]);
});

test("the own key wins over another key with its id", () => {
  const own = runToken(signingKeyOf(settings(second, "1")), {
    allocation: "7.1#1",
    grantPosition: 40,
    grantId,
  });
  expect(readRunToken(runTokenKeysOf(settings(second, "1", `1=${first}`)), own)).not.toBeNull();
});

test.each([
  ["a key of another length", "07", "1", ""],
  ["an id that no token can name", first, "a.b", ""],
  ["another key without an id", first, "1", second],
  ["another key of another length", first, "1", "2=ab"],
  ["a list with a gap", first, "1", `2=${second},,3=${second}`],
])("%s is refused with the name of its variable", (_, key, id, others) => {
  expect(() => settings(key, id, others)).toThrow(/TRAINYARD_RUN_TOKEN_/);
});
