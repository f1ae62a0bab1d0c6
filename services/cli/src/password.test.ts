import { expect, test } from "vitest";
import { newPassword, passwordChange, sentPassword } from "./password.ts";
import { inputOf } from "./testing/input.ts";

test("a password is sent as the SHA-512 of Determined's salt and the typed text", () => {
  // By sha512sum of the salt and "correct horse".
  expect(sentPassword("correct horse")).toBe(
    "2447a141acc80af004f38355177c3e93343720d9dbb20a21365b074f2a12abed" +
      "5cc9b027d8d9c4f818d392b90add277818c8166fb6385b79e548a05492c2a66f",
  );
});

test("a password is the first line of stdin, with its spaces", async () => {
  using _stdin = inputOf(" correct horse \r\nnext");
  expect(await newPassword({ stdin: true })).toBe(sentPassword(" correct horse "));
});

test("a change reads the present password and the new one, a line each", async () => {
  using _stdin = inputOf("old\ncorrect horse\n");
  expect(await passwordChange({ stdin: true })).toEqual({
    current: sentPassword("old"),
    password: sentPassword("correct horse"),
  });
});

test.each(["", "1234567", "\ud83d\ude00".repeat(7)])(
  "a new password of %j is too short",
  async (text) => {
    using _stdin = inputOf(text);
    await expect(newPassword({ stdin: true })).rejects.toThrow("at least 8 characters");
  },
);

test("a password of a megabyte is sent as its hash", async () => {
  using _stdin = inputOf("x".repeat(1_048_576));
  expect(await newPassword({ stdin: true })).toHaveLength(128);
});

test("a password is typed at a terminal only", async () => {
  using _stdin = inputOf("correct horse");
  await expect(newPassword({})).rejects.toThrow("with --stdin it is read from stdin");
});
