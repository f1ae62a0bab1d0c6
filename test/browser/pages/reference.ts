/** Tests of the page that draws the documents of the API. */
import { expect } from "vitest";
import { test } from "../support/stage.ts";

test("the page of the API lists the calls, and a search leads to one with its comment, fields and example", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/reference");
  await page.getByRole("searchbox", { name: "Search" }).fill("move job");
  const move = page.getByRole("button", { name: "/api/v1/jobs/{job}/move" });
  await move.click();
  await page.getByRole("table", { name: "Body" }).getByText("anchor", { exact: true }).waitFor();
  await page.getByText(`-d '{"anchor":"2","ahead":true}'`).waitFor();
  expect(new URL(page.url()).searchParams.get("at")).toBe("JobService_MoveJob");
  await stage.looks(page, "reference-call");
  await page.setViewportSize({ width: 360, height: 780 });
  await stage.looks(page, "phone-reference-call");
});

test("a type of the page of the API leads to its message, and events have their channels", async ({
  skip,
  stage,
}) => {
  const page = await stage.page(skip, "/reference?at=JobService_ListJobs");
  await page.getByRole("link", { name: "list of Job" }).click();
  const message = page.getByRole("button", { name: "Job", exact: true, expanded: true });
  await message.waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByRole("button", { name: "ty.feed.{subscription}" }).click();
  await page.getByText("Ty-Follows").waitFor();
  await page.getByRole("button", { name: "ExperimentEnded" }).click();
  await page.getByText('"outcome"').waitFor();
  const inView = page.getByRole("button", { name: "ExperimentEnded", expanded: true });
  const { y } = (await inView.boundingBox()) ?? { y: -1 };
  expect(y).toBeGreaterThan(0);
  expect(y).toBeLessThan(800);
  await stage.looks(page, "reference-events");
});
