import { argon2Sync, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { hashOf, isOutdated, passwordForm, Passwords, randomPassword } from "./passwords.ts";

const form = passwordForm("correct horse");

const check = (passwords: Passwords, stored: string | null, password = form): Promise<boolean> =>
  passwords.checking("here", password, (matches) => matches(stored));

test("the form of a typed password is that of Determined's clients", () => {
  expect(passwordForm("")).toMatch(/^[0-9a-f]{128}$/);
  expect(passwordForm("a")).not.toBe(passwordForm("b"));
});

test("a password matches its own hash only, which has its parameters and a salt of its own", async () => {
  const passwords = new Passwords();
  const hash = await passwords.hash(form, "here");
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await hashOf(form)).not.toBe(hash);
  expect(await check(passwords, hash)).toBe(true);
  expect(await check(passwords, hash, passwordForm("wrong horse"))).toBe(false);
  expect(await check(passwords, null)).toBe(false);
});

test("a hash of lower parameters still matches, and counts as outdated", async () => {
  const salt = randomBytes(16);
  const parameters = { memory: 8_192, passes: 1, parallelism: 1, tagLength: 32 };
  const key = argon2Sync("argon2id", { ...parameters, nonce: salt, message: form });
  const text = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");
  const stored = `$argon2id$v=19$m=8192,t=1,p=1$${text(salt)}$${text(key)}`;
  expect(await check(new Passwords(), stored)).toBe(true);
  expect(isOutdated(stored)).toBe(true);
  expect(isOutdated(await hashOf(form))).toBe(false);
});

test.each(["", "password", "A".repeat(128), "0".repeat(127)])(
  "%j is refused, because it is not in the form of clients",
  async (password) => {
    const refusal = { status: 400, code: "invalid_password" };
    await expect(async () => check(new Passwords(), null, password)).rejects.toMatchObject(refusal);
  },
);

test("a random password can be typed, and each one is another", () => {
  expect(randomPassword()).toMatch(/^([a-hjkmnp-z2-9]{5}-){3}[a-hjkmnp-z2-9]{5}$/);
  expect(randomPassword()).not.toBe(randomPassword());
});
