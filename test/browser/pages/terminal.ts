/** Tests of the terminal on a task's page: what is typed and shown, and what a program's output must not do. */
import { expect } from "vitest";
import { eventually } from "../../world/eventually.ts";
import type { Stage } from "../support/cluster-stage.ts";
import { test } from "../support/stage.ts";

/** The profile of the machine's user may delay a login shell, or write to its terminal. */
const config = [
  "resources: { slots: 0 }",
  "environment: { environment_variables: [HOME=/nonexistent] }",
].join("\n");

async function runningTask(
  { world }: Stage,
  kind: "shell" | "command",
  command: readonly string[] = [],
): Promise<string> {
  const request = { kind, config, command: [...command] };
  const { task } = await world.client.call("createTask", request);
  const id = task?.id ?? "";
  await eventually(`task ${id} runs`, async () => {
    const { state } = await world.client.call("getTask", { task: id });
    return state === "RUNNING";
  });
  return id;
}

/** Sequences that ask for the clipboard and the title, colours of the program's own, and links. */
const hostile = String.raw`\e]52;c;aGVsbG8=\a\e]0;another title\a\e[38;2;9;90;200mblue\e[0m `;
const linkTo = (address: string, text: string): string =>
  String.raw`\e]8;;${address}\e\\${text}\e]8;;\e\\ `;

test("a shell's terminal is typed into, shows output, leaves the page alone, and ends", async ({
  skip,
  stage,
}) => {
  const id = await runningTask(stage, "shell");
  const page = await stage.page(skip, `/tasks/${id}`);
  const terminal = page.getByRole("region", { name: `Terminal main of task ${id}` });
  await terminal.getByText(/^Connected, \d+ × \d+\.$/).waitFor();
  await page.evaluate(() => {
    const copied: string[] = [];
    Object.assign(globalThis, { copied });
    navigator.clipboard.writeText = async (text) => void copied.push(text);
  });
  const address = `${stage.world.api}/livez`;
  const written = hostile + linkTo("javascript:alert(1)", "script") + linkTo(address, "docs");
  await page.keyboard.type(`PS1='$ '; clear; printf '${written}'; echo " shown-$((40 + 2))"\n`);
  await terminal.getByText("shown-42").waitFor();
  expect(await page.title()).toBe(`Task ${id} · Trainyard`);
  expect(await page.evaluate(() => Reflect.get(globalThis, "copied") as unknown)).toEqual([]);
  const blue = terminal.locator(".xterm-rows span", { hasText: /^blue$/ }).first();
  expect(await blue.evaluate((cell) => cell.getAttribute("style"))).toContain("color");
  expect(await terminal.locator(".xterm-cursor-blink").count()).toBe(0);
  const cell = (text: string) => terminal.locator(".xterm-rows span", { hasText: text }).first();
  await cell("script").click({ force: true });
  await cell("docs").hover({ force: true });
  await terminal.getByText(address).waitFor();
  expect(page.context().pages()).toHaveLength(1);
  const opening = page.context().waitForEvent("page");
  await cell("docs").click({ force: true });
  const opened = await opening;
  expect(opened.url()).toBe(address);
  await opened.close();
  await stage.looks(page, "terminal");
  await page.keyboard.press("Shift+F6");
  expect(await terminal.locator("textarea").evaluate((one) => one === document.activeElement)).toBe(
    false,
  );
  await terminal.locator("textarea").focus();
  await page.keyboard.type("exit 3\n");
  await terminal.getByText("Ended with code 3.").waitFor();
});

test("a running command has a terminal on request, and another one after its end", async ({
  skip,
  stage,
}) => {
  const id = await runningTask(stage, "command", ["sleep", "600"]);
  const page = await stage.page(skip, `/tasks/${id}?tab=terminal`);
  const terminal = page.getByRole("region", { name: `Terminal main of task ${id}` });
  await page.getByRole("button", { name: "Open a shell" }).click();
  await terminal.getByText(/^Connected/).waitFor();
  await page.keyboard.type("exit\n");
  await terminal.getByRole("button", { name: "Open another one" }).click();
  await terminal.getByText(/^Connected/).waitFor();
  await stage.world.client.call("killTask", { task: id, reason: "" });
  await terminal.getByText(/^(Not connected|Ended)/).waitFor();
});
