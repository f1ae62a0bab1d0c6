import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { firstFiles, firstLoadKb } from "./first-load.ts";

const html = `<link rel="icon" href="/icon.svg" />
<script type="module" crossorigin src="/assets/index-a.js" nonce="x"></script>
<link rel="modulepreload" crossorigin href="/assets/calls-b.js" nonce="x">
<link rel="stylesheet" crossorigin href="/assets/index-c.css" nonce="x">`;

test("the first load is the page, its scripts with their imports, and its styles", () => {
  expect(firstFiles(html)).toEqual([
    "assets/index-a.js",
    "assets/calls-b.js",
    "assets/index-c.css",
  ]);
});

test("a page without a script is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "trainyard-web-"));
  try {
    writeFileSync(join(folder, "index.html"), "<p>nothing</p>");
    expect(() => firstLoadKb(folder)).toThrow("names no script");
    mkdirSync(join(folder, "assets"));
    for (const file of firstFiles(html)) writeFileSync(join(folder, file), "x".repeat(100_000));
    writeFileSync(join(folder, "index.html"), html);
    // Each file repeats one letter, so that the file is tiny when compressed.
    expect(firstLoadKb(folder)).toBeLessThan(2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
