/** Tests of sign-ins by a code, with a simulated gateway whose person confirms when the test says so. */
import { Client } from "@trainyard/client";
import { systemClock } from "@trainyard/kernel/system-clock";
import { expect, test } from "vitest";
import { deviceLogin } from "./device-login.ts";
import { type PlayedAnswer, playGateway, problem } from "./testing/played-gateway.ts";

const started = {
  code: "BCDF-GHJK",
  secret: "s",
  path: "/device?code=BCDF-GHJK",
  expiresAtMs: Date.UTC(2100, 0),
  intervalSeconds: 3,
};
const pending = problem(400, "authorization_pending", "nobody has confirmed");

/** Signs in while the gateway gives these answers to the questions of the program, one each. */
async function signIn(...answers: readonly PlayedAnswer[]) {
  const left = [...answers];
  await using gateway = await playGateway(({ call }) =>
    call.endsWith(":finish") ? (left.shift() ?? pending) : { body: started },
  );
  const [notes, waits]: [string[], number[]] = [[], []];
  const clock = {
    ...systemClock,
    timer: (afterMs: number, callback: () => void) => {
      waits.push(afterMs);
      return systemClock.timer(0, callback);
    },
  };
  const client = new Client({ url: gateway.url, clock });
  const login = deviceLogin(client, gateway.url, (line) => notes.push(line));
  const outcome = await login.catch((error: unknown) => (error as Error).message);
  return { outcome, notes, waits, url: gateway.url, requests: gateway.requests };
}

test("a sign-in prints the page and the code, and asks until the person has confirmed", async () => {
  const confirmed = { body: { token: "t", user: "ada" } };
  const { outcome, notes, requests, waits, url } = await signIn(pending, pending, confirmed);
  expect(outcome).toEqual({ url, token: "t", user: "ada" });
  expect(notes).toEqual([
    `open ${url}/device?code=BCDF-GHJK in a browser, and confirm the code BCDF-GHJK`,
  ]);
  expect(requests.map(({ call, body }) => [call, body])).toEqual([
    ["POST /api/v1/device-logins", { program: expect.stringMatching(/^yard \S+ on .+/) }],
    ...Array.from({ length: 3 }, () => ["POST /api/v1/device-logins:finish", { secret: "s" }]),
  ]);
  expect(waits).toEqual([3_000, 3_000, 3_000]);
});

test("a sign-in asks less often when the gateway wants it, and again after an error of the gateway", async () => {
  const slower = problem(400, "slow_down", "you ask too often");
  const away = problem(500, "internal", "request r failed");
  const { waits } = await signIn(slower, away, problem(400, "expired_token", "it has expired"));
  expect(waits).toEqual([3_000, 8_000, 8_000]);
});

test.each(["access_denied", "expired_token", "user_disabled"])(
  "a sign-in ends with the gateway's sentence at %s",
  async (code) => {
    expect(await signIn(pending, problem(400, code, "no"))).toMatchObject({ outcome: "no" });
  },
);
