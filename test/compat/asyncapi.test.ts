import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Parser } from "@asyncapi/parser";
import { expect, test } from "vitest";
import { documentsFolder } from "../../scripts/lib/api-documents/documents.ts";
import { root } from "../../scripts/lib/root.ts";

test("the AsyncAPI document is valid, and has every way by which events leave", async () => {
  const text = readFileSync(join(root, documentsFolder, "asyncapi.json"), "utf8");
  const { document, diagnostics } = await new Parser().parse(text);
  // Warnings are about parts that a document need not have.
  const wrong = diagnostics.filter(({ severity }) => severity === 0);
  expect(wrong.map(({ message, path }) => `${path.join(".")}: ${message}`)).toEqual([]);
  const addresses = document
    ?.channels()
    .all()
    .map((channel) => channel.address());
  expect(addresses).toEqual([
    "/api/v1/events",
    "ty.feed.{subscription}",
    "ty.feed-ack.{subscription}.{position}",
    "{topic}",
    null,
  ]);
});
