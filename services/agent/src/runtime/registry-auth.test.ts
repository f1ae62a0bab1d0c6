import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { authFor, registryOf } from "./registry-auth.ts";

afterAll(removeFolders);

function fileOf(text: string): string {
  const file = join(newFolder(), "auth.json");
  writeFileSync(file, text);
  return file;
}

const auth = (user: string) => ({ auth: Buffer.from(`${user}:a:b`).toString("base64") });

test.each([
  ["localhost/a:1", "localhost"],
  ["registry.example/a/b:1", "registry.example"],
  ["127.0.0.1:5000/a@sha256:00", "127.0.0.1:5000"],
  ["team/image", "docker.io"],
  ["python:3.11", "docker.io"],
])("the registry of %s is %s", (image, registry) => {
  expect(registryOf(image)).toBe(registry);
});

test("the most specific credentials win, and a password may have a colon", () => {
  const auths = {
    "registry.example": auth("all"),
    "registry.example/team": auth("team"),
    "https://index.docker.io/v1/": auth("hub"),
  };
  const file = fileOf(JSON.stringify({ auths }));
  const userOf = (image: string) => authFor(image, file)?.username ?? null;
  expect(userOf("registry.example/other/a:1")).toBe("all");
  expect(userOf("registry.example/team/a:1")).toBe("team");
  expect(userOf("registry.example/teams/a:1")).toBe("all");
  expect(userOf("python:3.11")).toBe("hub");
  expect(userOf("elsewhere.example/a")).toBeNull();
  expect(authFor("python", file)?.password).toBe("a:b");
});

test("a credentials file that cannot be read is named, and its content is not quoted", () => {
  expect(() => authFor("a", "/no/such/file")).toThrow(
    /credentials in \/no\/such\/file cannot be read/,
  );
  const torn = fileOf('{"auths": {"docker.io": {"auth": "c2VjcmV0');
  expect(() => authFor("a", torn)).toThrow(/it is not JSON$/);
});
