/** Tests of the pages of tasks in a browser that is signed in to the Web UI: what a hostile page tries is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@trainyard/testing";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";

const source = readFileSync(join(import.meta.dirname, "hostile_task.py"), "utf8");

type Serving = { readonly id: string; readonly port: number };

async function served({ world }: Stage, name: string): Promise<Serving> {
  const port = await freePort();
  const ports = `environment.proxy_ports=[{proxy_port: ${port}}]`;
  const { task } = await world.client.call("createTask", {
    kind: "command",
    command: ["python3", "-c", source, String(port)],
    overrides: ["resources.slots=0", `name=${name}`, ports],
  });
  return { id: task?.id ?? "", port };
}

/** A hostile task, and the task of somebody else, which has the same server. */
const test = base.extend("pages", { scope: "file" }, async ({ shared }) => {
  const none: Serving = { id: "", port: 0 };
  if (findChromium().program === null) return [none, none] as const;
  const pages = [await served(shared, "hostile-page"), await served(shared, "other-page")] as const;
  await eventually("both tasks run", async () => {
    const read = ({ id }: Serving) => shared.world.client.call("getTask", { task: id });
    return (await Promise.all(pages.map(read))).every(({ state }) => state === "RUNNING");
  });
  return pages;
});

/** Opens a task's page as a person does. Its server may need a moment after the start of its process. */
async function opened(stage: Stage, ui: Page, { id, port }: Serving): Promise<Page> {
  await ui.goto(`${stage.world.api}/tasks/${id}`);
  const [page] = await Promise.all([
    ui.context().waitForEvent("page"),
    ui.getByRole("button", { name: "Open" }).click(),
  ]);
  await eventually(`the page at port ${port} of ${id} is there`, async () => {
    const isThere = await page.getByText("A hostile page").isVisible();
    if (!isThere && page.url().endsWith("/")) await page.reload();
    return isThere;
  });
  return page;
}

test("a page that a task serves is opened from its page and from the list, without an opener", async ({
  skip,
  stage,
  pages: [own],
}) => {
  const ui = await stage.page(skip, "/tasks?filter=name%20%3D%20hostile-page");
  stage.guardOf(ui).expect(/\.localhost/);
  await ui.getByRole("button", { name: `Open port ${own.port} of task ${own.id}` }).waitFor();
  await stage.looks(ui, "tasks-with-pages");
  const page = await opened(stage, ui, own);
  await stage.looks(ui, "task-with-page");
  const host = `${own.id}.localhost:${new URL(stage.world.api).port}`;
  expect(new URL(page.url())).toMatchObject({ host, pathname: "/", hash: "" });
  expect(await page.evaluate("window.opener")).toBeNull();
});

test("without a domain of tasks, away from localhost, the command that opens the page is shown", async ({
  skip,
  stage,
  pages: [own],
}) => {
  const ui = await stage.page(skip, `/tasks/${own.id}`);
  stage.guardOf(ui).expect(/409/);
  const detail = "this cluster has no domain for the pages of tasks";
  await ui.route(/\/sessions$/, (route) =>
    route.fulfill({
      status: 409,
      contentType: "application/problem+json",
      body: JSON.stringify({ type: "about:blank", status: 409, code: "no_task_domain", detail }),
    }),
  );
  await ui.getByRole("button", { name: "Open" }).click();
  await ui.getByText(`yard task open ${own.id}`).waitFor();
  await ui.getByRole("button", { name: "Copy the command" }).waitFor();
  await stage.looks(ui, "task-page-elsewhere");
});

test("a hostile page reaches neither the platform nor another task, and the Web UI stays signed in", async ({
  skip,
  stage,
  pages: [own, other],
}) => {
  const ui = await stage.page(skip, "/tasks");
  stage.guardOf(ui).expect(/\.localhost/, /127\.0\.0\.1/);
  const { api } = stage.world;
  const victim = await opened(stage, ui, other);
  const page = await opened(stage, ui, own);
  const cookies: Promise<string | undefined>[] = [];
  page.on("request", (asked) => {
    if (!asked.url().startsWith(api)) return;
    cookies.push(asked.allHeaders().then(({ cookie }) => cookie));
  });
  const stolen = `${new URL(victim.url()).origin}/stolen`;
  const kill = `${api}/api/v1/tasks/${other.id}/kill`;
  const tried = await page.evaluate(attempts, { api, stolen, kill, task: other.id });
  expect(tried).toEqual({
    apiIsRead: "refused",
    otherTaskIsRead: "refused",
    foreignWorker: "refused",
    webSocket: "refused",
    taskWebSocket: "refused",
    ownWorker: "/",
  });
  const [platform, foreign] = page.frames().filter((frame) => frame !== page.mainFrame());
  expect(platform?.url()).toBe("chrome-error://chromewebdata/");
  expect(await foreign?.content()).toContain("this request came from a page of another origin");
  // The platform's cookie went to its own address with no request of the page: the reads, the change and the frame.
  expect(await Promise.all(cookies)).toEqual(cookies.map(() => undefined));
  expect(cookies.length).toBeGreaterThan(2);
  // A form may be sent anywhere, with the cookies of a navigation: SameSite=Lax holds them back, since it is a POST.
  await page.evaluate(submit, kill);
  await page.waitForURL((url) => url.origin === api);
  const { state } = await stage.world.client.call("getTask", { task: other.id });
  expect(state).toBe("RUNNING");
  const seen = await victim.evaluate(() => fetch("/seen").then((answer) => answer.text()));
  expect(seen).not.toContain("stolen");

  const planted = (await ui.context().cookies()).filter(({ name }) => /planted/.test(name));
  expect(planted.filter(({ name }) => name === "planted_by_server")).toEqual([]);
  for (const address of [api, api.replace("127.0.0.1", "localhost")]) {
    await ui.goto(`${address}/tasks/${own.id}`);
    await ui.getByRole("heading", { name: `Task ${own.id}` }).waitFor();
    expect(new URL(ui.url()).origin).toBe(api);
  }
  expect(await ui.evaluate("navigator.serviceWorker.controller")).toBeNull();
});

type Targets = {
  readonly api: string;
  readonly stolen: string;
  readonly kill: string;
  readonly task: string;
};

/** The attempts of the page, which run in the browser. */
async function attempts({ api, stolen, kill, task }: Targets) {
  const outcome = (tried: Promise<unknown>): Promise<string> =>
    tried.then(
      () => "done",
      () => "refused",
    );
  const reads = (url: string) =>
    outcome(fetch(url, { credentials: "include" }).then((answer) => answer.text()));
  const opens = (url: string) =>
    outcome(
      new Promise((resolve, reject) => {
        const socket = new WebSocket(url);
        socket.addEventListener("message", resolve);
        socket.addEventListener("close", reject);
      }),
    );
  const loads = (url: string) =>
    new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.src = url;
      // The event also comes for the browser's own page about a refusal.
      frame.addEventListener("load", resolve);
      document.body.append(frame);
    });
  const names = ["trainyard", "trainyard_task", "__Host-trainyard", "planted"];
  for (const name of names) document.cookie = `${name}=planted; domain=localhost; path=/`;
  for (const name of names) document.cookie = `${name}=planted; domain=127.0.0.1; path=/`;
  await fetch(kill, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" });
  const socketOf = api.replace("http", "ws");
  await Promise.all([loads(`${api}/tasks`), loads(stolen)]);
  const workers = navigator.serviceWorker;
  return {
    apiIsRead: await reads(`${api}/api/v1/tokens`),
    otherTaskIsRead: await reads(stolen),
    foreignWorker: await outcome(workers.register(`${api}/worker.js`)),
    webSocket: await opens(`${socketOf}/api/v1/watch`),
    taskWebSocket: await opens(`${socketOf}/api/v1/tasks/${task}/streams/terminal`),
    ownWorker: await workers.register("/worker.js").then(({ scope }) => new URL(scope).pathname),
  };
}

function submit(action: string): void {
  const form = document.createElement("form");
  form.method = "POST";
  form.enctype = "text/plain";
  form.action = action;
  document.body.append(form);
  form.submit();
}
