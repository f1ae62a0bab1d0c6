/** A real cluster with the built pages, and a browser that is signed in to it, for the tests of pages. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildWeb, checkout, webBuild } from "@trainyard/local-cluster";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { World, type WorldOptions } from "../../world/world.ts";
import { accessibilityProblems } from "./accessibility.ts";
import { chromiumOptions, needChromium } from "./chromium.ts";
import { Guard } from "./guard.ts";

/** The `skip` of vitest's test context. */
type Skip = (note: string) => never;

export const themes = ["light", "dark"] as const;

const screenshots = join(checkout, ".cache", "screenshots");

/** The timeout of waits, long enough that only hanging ones reach it. */
const patienceMs = 90_000;

type Open = { readonly context: BrowserContext; readonly guard: Guard };

export class Stage {
  #world: World | null = null;
  #browser: Browser | null = null;
  #open: Open[] = [];

  async start(program: string, options: WorldOptions): Promise<void> {
    const build = webBuild(checkout);
    if (build === null) throw new Error("the checkout has no pages");
    const logs = join(checkout, ".cache");
    await buildWeb(build, join(logs, "web-build.log"));
    this.#world = await World.start({ ...options, web: true });
    this.#browser = await chromium.launch({
      executablePath: program,
      args: chromiumOptions(),
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#browser?.close(), this.#world?.[Symbol.asyncDispose]()]);
  }

  /** The cluster: its client, its command line, `submit`, `kill`. */
  get world(): World {
    if (this.#world === null) throw new Error("the cluster did not start");
    return this.#world;
  }

  /** A one-time link to the cluster's pages, as `yard ui` prints it. */
  async link(): Promise<string> {
    const { code } = await this.world.client.call("createSessionCode", {});
    return `${this.world.api}/#code=${code}`;
  }

  /** Opens a path in a new, signed-in browser context. Without Chromium the test is skipped. */
  async page(skip: Skip, path: string): Promise<Page> {
    const { page, context } = await this.visitor(skip);
    const { code } = await this.world.client.call("createSessionCode", {});
    const url = `${this.world.api}/api/v1/sessions`;
    const answer = await context.request.post(url, { data: { code } });
    if (!answer.ok()) throw new Error(`the code opened no session: ${await answer.text()}`);
    await page.goto(this.world.api + path);
    return page;
  }

  /** Opens a new browser context that is not signed in, without a page. */
  async visitor(
    skip: Skip,
  ): Promise<{ readonly page: Page; readonly guard: Guard; readonly context: BrowserContext }> {
    needChromium(skip);
    if (this.#browser === null) throw new Error("the browser did not start");
    const context = await this.#browser.newContext({
      viewport: { width: 1_280, height: 800 },
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "UTC",
    });
    context.setDefaultTimeout(patienceMs);
    const guard = await Guard.over(context);
    this.#open.push({ context, guard });
    return { page: await context.newPage(), guard, context };
  }

  /** The guard of a page, through which a test says which errors it expects. */
  guardOf(page: Page): Guard {
    const found = this.#open.find(({ context }) => context === page.context());
    if (found === undefined) throw new Error("this page was not opened by this stage");
    return found.guard;
  }

  /** Takes a screenshot in each theme, and throws if axe finds a problem. The page must be complete before the call. */
  async looks(page: Page, name: string): Promise<void> {
    mkdirSync(screenshots, { recursive: true });
    const problems: string[] = [];
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: join(screenshots, `${name}-${theme}.png`) });
      problems.push(...(await accessibilityProblems(page)).map((one) => `${theme}: ${one}`));
    }
    if (problems.length > 0) throw new Error(`${name} has problems:\n${problems.join("\n")}`);
  }

  /** Called after each test: throws if the console had an error, or a page broke its policy. */
  async clear(): Promise<void> {
    const open = this.#open;
    this.#open = [];
    const faults = open.flatMap(({ guard }) => guard.faults);
    await Promise.all(
      open.map(async ({ context }) => {
        // An answer that a test changes may be on its way.
        const pages = context.pages();
        await Promise.all(pages.map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
        await context.close();
      }),
    );
    if (faults.length > 0) {
      throw new Error(`the pages had errors that the test does not expect:\n${faults.join("\n")}`);
    }
  }
}
