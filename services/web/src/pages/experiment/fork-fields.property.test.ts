import fc from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { readFields, withField } from "./fork-fields.ts";

const name = fc.string({ minLength: 1, maxLength: 6 }).filter((key) => key !== "__proto__");
const constant = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 8 }),
  fc.boolean(),
  fc.array(fc.integer(), { maxLength: 3 }),
);
const range = fc.record({
  type: fc.constant("double"),
  minval: fc.integer(),
  maxval: fc.integer(),
});
const { space } = fc.letrec<{ space: Record<string, unknown>; value: unknown }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, constant, range, tie("space")),
  space: fc.dictionary(name, tie("value"), { maxKeys: 4 }),
}));

/** Returns the leaves of a value by their paths, as JSON. */
function leavesOf(value: unknown, path = "$"): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [`${path} ${JSON.stringify(value)}`];
  }
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, `${path} ${JSON.stringify(key)}`),
  );
}

test("an edit of a field changes its value, and no other of the text", () => {
  const style = fc.constantFrom("BLOCK_LITERAL", "PLAIN", "QUOTE_DOUBLE");
  fc.assert(
    fc.property(space, style, fc.boolean(), fc.nat(), (hyperparameters, plain, flow, pick) => {
      const config = { name: "x", hyperparameters, searcher: { name: "single" } };
      const options = {
        collectionStyle: flow ? "flow" : "block",
        defaultStringType: plain,
      } as const;
      const text = stringify(config, options);
      const read = readFields(text);
      const fields = "fields" in read ? read.fields.hyperparameters : [];
      const field = fields[pick % Math.max(1, fields.length)];
      if (field === undefined) return;
      const result = withField(text, field, "-12.5");
      if (!("text" in result)) throw new Error(result.problem);
      const [before, after] = [leavesOf(parse(text)), leavesOf(parse(result.text))];
      const changed = after.filter((leaf) => !before.includes(leaf));
      const path = ["$", ...field.path.map((key) => JSON.stringify(key))].join(" ");
      expect(after).toHaveLength(before.length);
      expect(changed.filter((leaf) => leaf !== `${path} -12.5`)).toEqual([]);
      expect(after).toContain(`${path} -12.5`);
    }),
  );
});
