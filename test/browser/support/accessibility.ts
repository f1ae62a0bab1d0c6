import axe from "axe-core";
import type { Page } from "playwright-core";

/** WCAG 2.2 up to AA, as the pages promise it. */
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** The findings of axe in the current page: one line for each element that breaks a rule. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await install(page);
  const found = await page.evaluate(async (tags) => {
    const { run } = (globalThis as unknown as { readonly axe: typeof axe }).axe;
    // All rules run; only for what breaks one are all elements described.
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

/** Through the debugger: the policy of the page lets no script in that did not come with it. */
async function install(page: Page): Promise<void> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (isThere) return;
  const debug = await page.context().newCDPSession(page);
  await debug.send("Runtime.evaluate", { expression: axe.source });
  await debug.detach();
}
