import { expect, test } from "vitest";
import { latestOf, type Verb } from "./verbs.tsx";

test("a palette command acts on the object that the page currently shows", () => {
  const done: string[] = [];
  const verbsOf = (id: string): readonly Verb[] => [
    { title: "Pause", run: () => done.push(`pause ${id}`) },
    { title: "Kill", run: () => done.push(`kill ${id}`) },
  ];
  let page = verbsOf("1");
  const lines = latestOf(page, () => page);
  page = verbsOf("2").toReversed();
  for (const { run } of lines) run();
  expect(done).toEqual(["pause 2", "kill 2"]);
});

test("a palette command does nothing once its verb is gone", () => {
  const done: string[] = [];
  const [line] = latestOf([{ title: "Pause", run: () => done.push("pause") }], () => []);
  line?.run();
  expect(done).toEqual([]);
});
