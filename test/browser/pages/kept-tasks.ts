/**
 * Tests of notebooks and TensorBoards in the Web UI: the form, pause and resume, the use of a task, its saved files.
 * The tasks wait for slots that another task has, so that no server has to be installed.
 */
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";

const everySlot = 4;

async function running(
  { world }: Stage,
  request: { kind: string; command?: string[]; overrides: string[] },
): Promise<string> {
  const { task } = await world.client.call("createTask", request);
  const id = task?.id ?? "";
  await eventually(`task ${id} runs`, async () => {
    const { state } = await world.client.call("getTask", { task: id });
    return state === "RUNNING";
  });
  return id;
}

/** A task that has a slot, so that a task with all slots waits. */
const test = base.extend("holder", { scope: "file" }, async ({ shared }) => {
  if (findChromium().program === null) return "";
  const overrides = ["resources.slots=1", "name=holds-a-slot"];
  return running(shared, { kind: "command", command: ["sleep", "900"], overrides });
});

test("a form starts a notebook, which is paused, found by its state, resumed and killed", async ({
  skip,
  stage,
  holder,
}) => {
  expect(holder).not.toBe("");
  const page = await stage.page(skip, "/tasks");
  stage.guardOf(page).expect(/400/);
  await page.getByRole("button", { name: "Start a notebook" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").fill("night work");
  await form.getByLabel("Pool").selectOption({ value: "default" });
  await form.getByLabel("Slots").fill("many");
  await form.getByText("Enter a whole number, 0 for none.").waitFor();
  expect(await form.getByRole("button", { name: "Start" }).isDisabled()).toBe(true);
  await form.getByLabel("Slots").fill("99");
  await form.getByRole("button", { name: "Start" }).click();
  await form.getByText(/99/).first().waitFor();
  await stage.looks(page, "notebook-form");
  await form.getByLabel("Slots").fill(String(everySlot));
  await form.getByLabel("Slots").press("Control+Enter");
  await page.getByText("night work").first().waitFor();
  await page.getByText("queued", { exact: true }).first().waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.getByText("paused", { exact: true }).first().waitFor();
  await stage.looks(page, "task-paused");

  await page.getByRole("link", { name: "Tasks" }).first().click();
  await page.getByLabel("Filter").fill("kind = notebook and state = PAUSED");
  await page.getByLabel("Filter").press("Enter");
  await page
    .getByRole("row")
    .filter({ hasText: "night work" })
    .getByText("paused", { exact: true })
    .waitFor();
  await page.getByRole("link", { name: id, exact: true }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText(`Task ${id} continues with its files, and without its variables.`).waitFor();
  await page.getByText("queued", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Kill" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
  await page.getByText("killed", { exact: true }).first().waitFor();
});

test("a task's page shows the idle time left, the folder, the last save and what is not saved", async ({
  skip,
  stage,
}) => {
  const id = await running(stage, { kind: "shell", overrides: ["resources.slots=0"] });
  const page = await stage.page(skip, "/tasks");
  let status = 200;
  const use = {
    ready: true,
    idleSeconds: 180,
    idleTimeoutSeconds: 1_800,
    notice: "its server does not answer since 12m",
    folderBytes: 12_582_912,
    folderFiles: 140,
  };
  await page.route(/\/tasks\/t\d+\/use/, (route) => route.fulfill({ status, json: use }));
  const lastSave = { checkpoint: "a", run: 1, files: 139, bytes: 12_582_000, savedAtMs: 1_000 };
  const unsaved =
    "the folder of run 1 is not saved: it stays on agent-1 in /var/lib/kept for 7 days";
  await page.route(/\/tasks\/t\d+(\?.*)?$/, async (route) => {
    if (route.request().resourceType() === "document") return route.continue();
    const answer = await route.fetch();
    const task = (await answer.json()) as object;
    await route.fulfill({ response: answer, json: { ...task, hasPage: true, lastSave, unsaved } });
  });
  await page.goto(`${stage.world.api}/tasks/${id}?tab=logs`);
  await page.getByRole("button", { name: "Open", exact: true }).waitFor();
  const facts = page.getByRole("complementary", { name: "Facts about the task" });
  await facts.getByText("not used for 3m, pauses in 27m").waitFor();
  await facts.getByText("12 MiB, 140 files").waitFor();
  await facts.getByText(/d ago, 12 MiB, 139 files/).waitFor();
  await page.getByText(/^The folder of run 1 is not saved: .* for 7 days\.$/).waitFor();
  await page.getByText("Its server does not answer since 12m.").waitFor();
  await stage.looks(page, "task-with-use");
  status = 503;
  await page.reload();
  await page.getByRole("button", { name: "Open", exact: true }).waitFor();
  expect(await page.getByText(/pauses in/).count()).toBe(0);
  await stage.world.client.call("killTask", { task: id, reason: "" });
});

test("the page of a command says why it cannot be paused", async ({ skip, stage, holder }) => {
  const page = await stage.page(skip, `/tasks/${holder}`);
  await page.getByRole("button", { name: "Kill" }).waitFor();
  await page.getByRole("button", { name: "More" }).click();
  const pause = page.getByRole("menuitem", { name: /^Pause/ });
  await pause.getByText("Its folder is not saved: it has no keep_work.").waitFor();
  expect(await pause.getAttribute("aria-disabled")).toBe("true");
});

test("the page of an experiment starts one TensorBoard, and shows it again", async ({
  skip,
  stage,
  holder,
}) => {
  const { world } = stage;
  world.write("board-code/train.py", "pass\n");
  const experiment = await world.submitPaused(
    `name: watched
entrypoint: python3 train.py
searcher: { name: single, metric: loss, smaller_is_better: true, max_length: { batches: 1 } }
`,
    "board-code",
  );
  const page = await stage.page(skip, `/experiments/${experiment}`);
  await page.route(/\/api\/v1\/tasks$/, (route) => {
    const asked = route.request().postDataJSON() as object;
    const overrides = [`resources.slots=${everySlot}`];
    return route.continue({ postData: JSON.stringify({ ...asked, overrides }) });
  });
  const open = async (): Promise<void> => {
    await page.getByRole("button", { name: "More", exact: true }).last().click();
    await page.getByRole("menuitem", { name: "TensorBoard" }).click();
    await page.getByRole("heading", { name: /^Task t\d+$/ }).waitFor();
  };
  await open();
  const { pathname } = new URL(page.url());
  await page.getByText("queued", { exact: true }).first().waitFor();
  const shows = page
    .getByRole("complementary")
    .getByRole("link", { name: experiment, exact: true });
  await stage.looks(page, "tensorboard-task");
  await shows.click();
  await page.getByText("watched").first().waitFor();
  await open();
  expect(new URL(page.url()).pathname).toBe(pathname);
  for (const task of [pathname.split("/").at(-1) ?? "", holder]) {
    await world.client.call("killTask", { task, reason: "" });
  }
});
