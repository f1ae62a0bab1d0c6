import { expect, test } from "vitest";
import { taskColumns } from "./columns.tsx";

test("the list offers the pages of one's own tasks only, since only its owner opens a task", () => {
  const pages = taskColumns(
    0,
    () => undefined,
    (owner) => owner === "ada",
  ).find(({ id }) => id === "pages");
  const task = { id: "t1", state: "RUNNING", hasPage: true, ports: [], owner: "ada" };
  type Row = Parameters<NonNullable<typeof pages>["text"]>[0];
  const of = (owner: string) => pages?.text({ ...task, owner } as Partial<Row> as Row);
  expect([of("ada"), of("bo")]).toEqual(["Open", ""]);
});
