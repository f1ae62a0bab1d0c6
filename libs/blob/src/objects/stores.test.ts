import { systemClock } from "@trainyard/kernel/system-clock";
import { expect, test } from "vitest";
import { Stores } from "./stores.ts";

const section = { type: "s3", bucket: "models" };
const endpoint_url = "https://store.example:9000";

test("a store at an address that the operator has not named is refused, and no request goes there", async () => {
  await using stores = new Stores({ clock: systemClock, endpoints: ["https://other.example"] });
  const opening = stores.of({ ...section, endpoint_url });
  await expect(opening).rejects.toMatchObject({ code: "endpoint_not_allowed", retry: "never" });
  await expect(opening).rejects.toThrow("TRAINYARD_STORAGE_ENDPOINTS");
});

test("a store at an address that the operator has named is opened once", async () => {
  await using stores = new Stores({ clock: systemClock, endpoints: [endpoint_url] });
  const store = await stores.of({ ...section, endpoint_url });
  expect(store?.address).toContain("s3://models");
  expect(await stores.of({ ...section, endpoint_url })).toBe(store);
});

test("a directory is no object store", async () => {
  await using stores = new Stores({ clock: systemClock });
  expect(await stores.of({ type: "directory", container_path: "/c" })).toBeNull();
});
