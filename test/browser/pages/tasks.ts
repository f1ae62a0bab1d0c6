/** Tests of the list of tasks and of the page of one: a command that fails, and one that is killed and deleted. */
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { findChromium } from "../support/chromium.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test as base } from "../support/stage.ts";

async function started({ world }: Stage, command: string[], name: string): Promise<string> {
  const overrides = ["resources.slots=0", `name=${name}`];
  const { task } = await world.client.call("createTask", { kind: "command", command, overrides });
  return task?.id ?? "";
}

async function reaches({ world }: Stage, task: string, wanted: string): Promise<void> {
  await eventually(`task ${task} is ${wanted}`, async () => {
    const { state } = await world.client.call("getTask", { task });
    return state === wanted;
  });
}

/** A task that has failed, and one that runs. */
const test = base.extend("both", { scope: "file" }, async ({ shared }) => {
  const none: readonly [string, string] = ["", ""];
  if (findChromium().program === null) return none;
  const failed = await started(shared, ["sh", "-c", "echo lost ends; exit 3"], "lost-ends");
  const running = await started(shared, ["sh", "-c", "echo found; sleep 900"], "long-walk");
  await Promise.all([reaches(shared, failed, "ERROR"), reaches(shared, running, "RUNNING")]);
  return [failed, running] as const;
});

test("the list of tasks is filtered, and shows a task that starts", async ({
  skip,
  stage,
  both,
}) => {
  const [failed, running] = both;
  const page = await stage.page(skip, "/");
  stage.guardOf(page).expect(/400/);
  await page.getByRole("link", { name: "Tasks" }).click();
  const row = (id: string) => page.getByRole("row").filter({ hasText: id });
  await row(failed).getByText("error").waitFor();
  await row(running).getByText("running").waitFor();
  const isWhole = () =>
    page.getByRole("grid").evaluate((area) => area.scrollWidth <= area.clientWidth);
  await expect.poll(isWhole).toBe(true);
  await stage.looks(page, "tasks");
  await page.getByLabel("Filter").fill("name : lost");
  await page.getByLabel("Filter").press("Enter");
  await row(running).waitFor({ state: "detached" });
  const later = await started(stage, ["true"], "lost-later");
  await row(later).getByText("completed").waitFor();
  await page.getByLabel("Filter").fill("nmae = a");
  await page.getByLabel("Filter").press("Enter");
  await page.getByText(/Column 1: Tasks have no field "nmae"/).waitFor();
});

test("the page of a failed task shows its exit code, its lines and its run", async ({
  skip,
  stage,
  both: [failed],
}) => {
  const page = await stage.page(skip, `/tasks/${failed}`);
  await page.getByText("lost ends").last().waitFor();
  const facts = page.getByRole("complementary", { name: "Facts about the task" });
  await facts.getByText("3", { exact: true }).waitFor();
  const why = page.getByRole("region", { name: "Why it failed" });
  await why.getByRole("heading", { name: /exit/ }).waitFor();
  await stage.looks(page, "task");
  await why.getByRole("link", { name: "Logs at this line" }).click();
  await page.locator("[aria-current=true][href*='line=']").waitFor();
  await page.getByRole("tab", { name: /Runs/ }).click();
  await page.getByRole("region", { name: "Run 1" }).getByText("failed").waitFor();
  await page.getByRole("tab", { name: "Configuration" }).click();
  await page.getByText('"name": "lost-ends"').waitFor();
});

test("a task is killed with a reason, and deleted", async ({ skip, stage, both: [, running] }) => {
  const page = await stage.page(skip, `/tasks/${running}`);
  await page.getByText("found").last().waitFor();
  await page.getByRole("button", { name: "Kill" }).click();
  await page.getByLabel("Reason").fill("it walked too long");
  await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
  await page.getByText("killed", { exact: true }).first().waitFor();
  // A frame may tell the page of the deletion before the answer does: it then asks for the task once more.
  stage.guardOf(page).expect(/404 .*\/tasks\/t\d+\)$/, /there is no task/);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText(`Task ${running} is deleted.`).waitFor();
  expect(new URL(page.url()).pathname).toBe("/tasks");
});
