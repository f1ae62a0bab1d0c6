import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** The levels of WCAG 2.2 that the pages meet: up to AA. */
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Returns the findings of axe in the current page: one line for each element that breaks a rule. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await install(page);
  const found = await page.evaluate(async (tags) => {
    const { run } = (globalThis as unknown as { readonly axe: typeof axe }).axe;
    // All rules run, but only the elements of broken rules are described.
    const { violations } = await run(document, { runOnly: tags, resultTypes: ["violations"] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary = "" }) => ({ id, help, html, failureSummary })),
    );
  }, standards);
  return found.map(
    ({ id, help, html, failureSummary }) =>
      `${id}: ${help}\n  ${html}\n  ${failureSummary.replaceAll("\n", "\n  ")}`,
  );
}

/** Loads axe through the debugger, since the page's policy forbids scripts that did not come with it. */
async function install(page: Page): Promise<void> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (isThere) return;
  const debug = await page.context().newCDPSession(page);
  await debug.send("Runtime.evaluate", { expression: source });
  await debug.detach();
}
