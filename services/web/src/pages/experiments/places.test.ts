import { expect, test } from "vitest";
import { isDefault, namesOf, placeText } from "./places.ts";

const words = { description: "", notes: "", archived: false, createdBy: "ada", etag: "" };
const vision = { ...words, name: "vision", createdAtMs: 1 };
const segmentation = { ...words, name: "segmentation", workspace: "vision", createdAtMs: 1 };

test("a place is named by its workspace, and a project also by its name", () => {
  expect(namesOf(vision)).toEqual({ workspace: "vision", project: undefined });
  expect(namesOf(segmentation)).toEqual({ workspace: "vision", project: "segmentation" });
  expect(placeText(vision)).toBe("workspace vision");
  expect(placeText(segmentation)).toBe("project segmentation of vision");
});

test("only a default place has no time of creation", () => {
  expect(isDefault(vision)).toBe(false);
  expect(isDefault({ ...words, name: "default" })).toBe(true);
});
