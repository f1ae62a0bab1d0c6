import fc from "fast-check";
import { expect, test } from "vitest";
import { safeHref } from "./link.ts";

test("links in notes may lead to other sites and to pages of this one", () => {
  for (const href of [
    "https://example.org/a?b=c#d",
    "http://host:8080/",
    "HTTPS://EXAMPLE.ORG/",
    "mailto:ada@example.org",
    "/experiments/12?tab=trials",
    "#results",
  ]) {
    expect(safeHref(href)).toBe(href);
  }
});

test("a link in a note that would run a script is removed", () => {
  for (const href of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "\u0001javascript:alert(1)",
    "javascript&colon;alert(1)",
    "vbscript:x",
    "data:text/html,<script>alert(1)</script>",
    "blob:https://example.org/1",
    "file:///etc/passwd",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https:/\\evil.example",
    "relative/path",
    "",
  ]) {
    expect(safeHref(href), href).toBeNull();
  }
});

test("every link in a note has a protocol that cannot run a script", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .tuple(fc.constantFrom("javascript:", "data:", "https:", "/", "//", "\\", "#"), fc.string())
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (href) => {
      const found = safeHref(href);
      const base = "https://cluster.example/models";
      if (found === null || !URL.canParse(found, base)) return;
      expect(["http:", "https:", "mailto:"]).toContain(new URL(found, base).protocol);
    }),
  );
});
