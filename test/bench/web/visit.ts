/** A visit of a page in a new tab, and the time from the navigation until what the benchmark waits for is drawn. */
import type { BrowserContext } from "playwright-core";
import { mainThread } from "./browser.ts";

export type Visit = {
  readonly ms: number;
  /** The processor time of the page's main thread. */
  readonly taskMs: number;
};

/**
 * `condition` is an expression of the page. A message that is posted in the frame in which it holds arrives once that
 * frame is drawn.
 */
const noteDrawn = (condition: string): string => `
  globalThis.drawnMs = new Promise((resolve) => {
    const look = () => {
      if (!(${condition})) {
        requestAnimationFrame(look);
        return;
      }
      const drawn = new MessageChannel();
      drawn.port1.onmessage = () => resolve(performance.now());
      drawn.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  });
`;

export async function visited(own: BrowserContext, url: string, condition: string): Promise<Visit> {
  const page = await own.newPage();
  await page.addInitScript(noteDrawn(condition));
  const used = await mainThread(page);
  await page.goto(url, { waitUntil: "commit" });
  const ms = await page.evaluate<number>("globalThis.drawnMs");
  const { taskMs } = await used();
  await page.close();
  return { ms, taskMs };
}
