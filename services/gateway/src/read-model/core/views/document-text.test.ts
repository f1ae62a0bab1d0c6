import fc from "fast-check";
import { expect, test } from "vitest";
import { documentOfText, textOfDocument } from "./document-text.ts";

const roundTrip = (doc: unknown): unknown => documentOfText(textOfDocument(doc));

const forged = fc.constantFrom("$double", "$double$", "$double$$", "$", "__proto__", "toString");
const names = fc.oneof(forged, fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "\0"));
const leaves = fc.oneof(
  fc.double(),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.constantFrom("NaN", "-0", "Infinity", "\ud800", "\udc00\ud800", "\0", "$double"),
  fc.string({ unit: "binary" }),
  fc.boolean(),
  fc.constant(null),
);

const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaves,
    fc.array(tie("document"), { maxLength: 4 }),
    fc
      .array(fc.tuple(names, tie("document")), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
}));

test("any document is read as it was written, whatever its keys and values", () => {
  fc.assert(
    fc.property(document, (doc) => {
      expect(roundTrip(doc)).toStrictEqual(doc);
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  [{ x: { $double: { valueOf: 1, toString: 1 } } }],
  [{ $double: "NaN" }],
  [{ $double: { $double: "Infinity" } }],
  [{ $double: Number.NaN }],
  [[{ $double$: "-0", $double: -0 }]],
  [JSON.parse('{"__proto__": {"$double": "NaN"}, "$double": "x"}')],
])("a document that looks like the marker of a number stays a document: %j", (doc) => {
  expect(roundTrip(doc)).toStrictEqual(doc);
});

test("rows that were written before markers were escaped are read correctly, including markers of users", () => {
  expect(documentOfText('{"best":{"$double":"-Infinity"}}')).toStrictEqual({
    best: Number.NEGATIVE_INFINITY,
  });
  const user = '{"x":{"$double":{"valueOf":1,"toString":1}},"y":{"$double":"NaN","z":1}}';
  expect(documentOfText(user)).toStrictEqual(JSON.parse(user));
});
