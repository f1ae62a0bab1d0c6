import { expect, test } from "vitest";
import { emptyForm, notebookRequest, slotsFault } from "./notebook-request.ts";

const configOf = (form: Partial<typeof emptyForm>): unknown =>
  JSON.parse(notebookRequest({ ...emptyForm, ...form }).config ?? "");

test("a form that nobody filled starts a notebook with the defaults and one slot", () => {
  expect(notebookRequest(emptyForm)).toEqual({
    kind: "notebook",
    config: '{"resources":{"slots":1}}',
  });
});

test("the texts of the form are the keys of a configuration, without blanks around them", () => {
  const form = { name: " night ", pool: "gpus", slots: " 2", image: "my/image:1", folder: "src" };
  expect(configOf(form)).toEqual({
    name: "night",
    work_dir: "src",
    resources: { slots: 2, resource_pool: "gpus" },
    environment: { image: "my/image:1" },
  });
});

test("the workspace of the form is the request's", () => {
  expect(notebookRequest({ ...emptyForm, workspace: "vision" }).workspace).toBe("vision");
});

test("a name that looks like YAML stays a text", () => {
  expect(configOf({ name: "{a: 1} # no" })).toMatchObject({ name: "{a: 1} # no" });
});

test("the slots are a whole number", () => {
  expect(slotsFault(emptyForm)).toBeUndefined();
  expect(slotsFault({ ...emptyForm, slots: "0" })).toBeUndefined();
  for (const slots of ["", "-1", "1.5", "many"]) {
    expect(slotsFault({ ...emptyForm, slots })).toBe("Enter a whole number, 0 for none.");
  }
});
