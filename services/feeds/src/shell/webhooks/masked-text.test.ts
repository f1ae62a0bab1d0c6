import { expect, test } from "vitest";
import { maskerOf } from "./masked-text.ts";

const webhook = {
  url: "https://user:pa55word@hooks.example.com/services/T0000001/Xk3vQ9?key=a%20key%20of%20mine",
  headers: { authorization: "Bearer abcdefgh12345678" },
  secret: "whsec_c2VjcmV0c2VjcmV0c2VjcmV0",
  oldSecret: "whsec_b2xkb2xkb2xkb2xkb2xkb2xk",
};
const masked = maskerOf(webhook);

test("the address behind the host, headers and secrets are masked in an answer, in each form that programs print", () => {
  const echoes = [
    webhook.url,
    "GET /services/T0000001/Xk3vQ9?key=a%20key%20of%20mine HTTP/1.1",
    '{"key": "a key of mine"}',
    "authorization: Bearer abcdefgh12345678",
    "token abcdefgh12345678",
    encodeURIComponent(webhook.headers.authorization),
    `signed with ${webhook.secret} and c2VjcmV0c2VjcmV0c2VjcmV0`,
    webhook.oldSecret,
  ];
  const shown = echoes.map(masked).join("\n");
  for (const secret of [
    ...["T0000001", "Xk3vQ9", "a key of mine", "a%20key"],
    ...["abcdefgh12345678", "pa55word", "c2VjcmV0", "b2xkb2xk"],
  ]) {
    expect(shown).not.toContain(secret);
  }
});

test("a secret of which only the beginning was read is masked, too", () => {
  expect(masked(`your key: ${webhook.secret.slice(0, 12)}`)).toBe("your key: ********");
});

test("other words of an answer stay", () => {
  expect(masked("internal error of hooks.example.com: no space left")).toBe(
    "internal error of hooks.example.com: no space left",
  );
});
