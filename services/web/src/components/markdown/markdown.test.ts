import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "./markdown.tsx";

/** The rendered HTML without the element around it. */
const drawn = (text: string): string =>
  renderToStaticMarkup(createElement(Markdown, { text }))
    .replace(/^<div[^>]*>/, "")
    .replace(/<\/div>$/, "");

test("a note has headings, emphasis, lists, code, tables and links", () => {
  expect(drawn("# Plan\n\nTry **lr 0.1**, *then* `0.01`.")).toBe(
    "<h3>Plan</h3><p>Try <strong>lr 0.1</strong>, <em>then</em> <code>0.01</code>.</p>",
  );
  expect(drawn("1. one\n2. two")).toBe('<ol start="1"><li>one</li><li>two</li></ol>');
  expect(drawn("```\na < b\n```")).toBe('<pre tabindex="0">a &lt; b</pre>');
  expect(drawn("| a | b |\n|---|--:|\n| x | 1 |")).toContain('<td data-align="right">1</td>');
  expect(drawn("[the paper](https://example.org/p)")).toBe(
    '<p><a href="https://example.org/p" target="_blank" rel="noopener noreferrer">the paper</a></p>',
  );
  expect(drawn("[trial](/trials/12.3)")).toBe('<p><a href="/trials/12.3">trial</a></p>');
  expect(drawn("- [x] done\n- [ ] open")).toMatch(/☑ .*done.*☐ .*open/);
});

test("HTML in a note is shown as text", () => {
  for (const html of [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onmouseover=alert(1)>b</b>",
    "<svg/onload=alert(1)>",
    '<iframe src="javascript:alert(1)"></iframe>',
    "<!-- --><style>*{display:none}</style>",
    "<details open ontoggle=alert(1)>",
  ]) {
    const page = drawn(html);
    expect(page).not.toMatch(/<(?!\/?(p|pre|br)\b)/);
    expect(page).toContain("&lt;");
  }
});

test("a link in a note that would run a script is shown as its text only", () => {
  for (const text of [
    "[x](javascript:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x]\n\n[x]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "[x](//evil.example)",
    '[x](https://a.example" onclick="alert)',
  ]) {
    const page = drawn(text);
    expect(page, text).not.toMatch(/href="(?!https:\/\/)/);
    expect(page, text).not.toMatch(/<[^>]* on\w+=/);
  }
});

test("an image in a note is shown as a link, since pages load nothing from other sites", () => {
  const page = drawn("![loss](https://example.org/loss.png)");
  expect(page).not.toContain("<img");
  expect(page).toContain('href="https://example.org/loss.png"');
  expect(page).toContain(">loss</a>");
});

test("a note that is too long or too deep to parse is shown as plain text", () => {
  expect(drawn("a ".repeat(20_000))).toMatch(/^<pre>[a ]+<\/pre>$/);
  expect(drawn("a".repeat(1_001))).toMatch(/^<pre>a+<\/pre>$/);
  expect(drawn(`**${"a".repeat(900)}** ${"b".repeat(1_000)}`)).toMatch(
    /^<p><strong>a+<\/strong> b+<\/p>$/,
  );
  expect(drawn(`${">".repeat(9_000)} deep`)).toContain("deep");
  expect(drawn(`${"[".repeat(3_000)}x${"](y)".repeat(3_000)}`)).toContain("x");
});

test.each([
  ["a long word before an @", `${"a".repeat(32_767)}@`],
  ["many words before an @", `${"a".repeat(998)}@ `.repeat(32)],
  ["closing brackets after an address", `http://a${")".repeat(32_000)}`],
])("a note of the largest size is drawn within two seconds: %s", (_, text) => {
  const before = performance.now();
  drawn(text);
  expect(performance.now() - before).toBeLessThan(2_000);
});
