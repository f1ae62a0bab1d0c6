/** A cluster with two agents that have both servers' packages, and a browser that opens the pages of its tasks. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { needPackages } from "@trainyard/service-agent/testing/page-servers";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { chromiumOptions, findChromium } from "../browser/support/chromium.ts";
import { agents, taskCluster } from "../tasks/troubled-tasks.ts";
import { eventually } from "../world/eventually.ts";
import { World, type WorldOptions } from "../world/world.ts";

const startMs = 120_000;

export class NotebookStage implements AsyncDisposable {
  readonly world: World;
  readonly #browser: Browser;

  private constructor(world: World, browser: Browser) {
    this.world = world;
    this.#browser = browser;
  }

  /** Throws a sentence if this machine lacks Chromium or the packages. */
  static async start(options: Pick<WorldOptions, "storage"> = {}): Promise<NotebookStage> {
    const found = findChromium();
    if (found.program === null) throw new Error(`there is no ${found.why}`);
    const browser = await chromium.launch({
      executablePath: found.program,
      args: chromiumOptions(),
    });
    try {
      const world = await World.start({ ...taskCluster, ...options });
      const stage = new NotebookStage(world, browser);
      for (const agent of agents) {
        const folder = join(world.home, "agents", agent);
        await needPackages(folder, ["notebook", "tensorboard"], (note) => {
          throw new Error(note);
        });
      }
      return stage;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  /** Starts a notebook in a folder of the world, and waits until its server answers. */
  async notebook(folder: string, overrides: readonly string[]): Promise<string> {
    const packed = ["-czf", "-", "-C", join(this.world.folder, folder), "."];
    const request = {
      kind: "notebook",
      context: execFileSync("tar", packed),
      overrides: ["resources.slots=1", ...overrides],
    };
    const { task } = await this.world.client.call("createTask", request);
    const id = task?.id ?? "";
    await this.untilTask(id, "RUNNING");
    return id;
  }

  async untilTask(task: string, state: string, forMs: number = startMs): Promise<void> {
    let seen = "";
    const isThere = async (): Promise<boolean> => {
      const found = await this.world.client.call("getTask", { task });
      seen = `${found.state}: ${found.reason}`;
      return found.state === state;
    };
    await eventually(`${task} is ${state}`, isThere, forMs).catch((cause: unknown) => {
      throw new Error(`${task} is ${seen}, and not ${state}`, { cause });
    });
  }

  /** Opens a task's page by the link of `yard task open`, in a browser session of its own. */
  async page(task: string): Promise<Page> {
    const { code, out, err } = await this.world.yard("task", "open", task);
    if (code !== 0) throw new Error(`yard task open ${task} ended with ${code}: ${err}`);
    const link = out.trim();
    const context: BrowserContext = await this.#browser.newContext({
      viewport: { width: 1_280, height: 900 },
    });
    context.setDefaultTimeout(startMs);
    const page = await context.newPage();
    await page.goto(link);
    // The link's own page signs in, and leads to the page of the task.
    await page.waitForURL((url) => !url.pathname.startsWith("/.trainyard"));
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    await this.world[Symbol.asyncDispose]();
  }
}
