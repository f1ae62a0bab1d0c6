import { expect, test } from "vitest";
import { headersFromTask, headersToTask, secretHeader } from "./passed-headers.ts";

const toTask = (...raw: string[]) => headersToTask(raw, { secret: "s", scheme: "http" });
const added = ["X-Forwarded-Proto", "http", secretHeader, "s"];
const policy = ["Content-Security-Policy", "frame-ancestors 'self'"];

test("a task gets a request without the person's credentials and without headers of the connection", () => {
  const raw = [
    ...["Host", "t12.localhost:8080", "Accept", "text/html"],
    ...["Authorization", "Bearer ty_secret", "Connection", "keep-alive, X-Hop", "X-Hop", "1"],
    ...["Transfer-Encoding", "chunked", "Upgrade", "h2c", "Expect", "100-continue"],
    ...["X-Forwarded-Host", "evil.example", "X-Forwarded-For", "1.2.3.4"],
    ...["X-Trainyard-Task-Secret", "guessed"],
  ];
  expect(toTask(...raw)).toEqual([
    ...["Host", "t12.localhost:8080", "Accept", "text/html"],
    ...added,
  ]);
});

test("a task gets its own cookies, and none of the platform's", () => {
  const cookies = "a=1; trainyard_task=x; __Host-trainyard_task=y; trainyard_0a1b=z; b=2=3";
  expect(toTask("Cookie", cookies, "cookie", "c=4")).toEqual([
    ...["Cookie", "a=1; b=2=3; c=4"],
    ...added,
  ]);
  expect(toTask("Cookie", "trainyard_task=x")).toEqual(added);
});

test.each([
  ["Set-Cookie", "a=1; Domain=localhost"],
  ["Set-Cookie", "a=1; path=/; DOMAIN=tasks.example.org"],
  ["Set-Cookie", "trainyard_task=planted"],
  ["Set-Cookie", " __Host-trainyard_task=planted; Path=/"],
  ["Set-Cookie", "trainyard_0a1b2c3d4e5f=planted"],
  ["Set-Cookie", "=trainyard_task=planted"],
  ["Set-Cookie", "trainyard_task"],
  ["Clear-Site-Data", '"cookies"'],
  ["Alt-Svc", 'h3=":443"'],
  ["X-Accel-Redirect", "/internal/secret"],
  ["X-Accel-Buffering", "no"],
  ["X-Sendfile", "/etc/passwd"],
  ["Strict-Transport-Security", "max-age=1; includeSubDomains"],
  ["Transfer-Encoding", "chunked"],
])("the header %s: %s of a task's answer is dropped", (name, value) => {
  expect(headersFromTask([name, value])).toEqual(policy);
});

test("a task's other headers pass as they are, in their order", () => {
  const raw = ["Set-Cookie", "a=1; Path=/; HttpOnly", "content-type", "text/html", "X-A", "1"];
  expect(headersFromTask(raw)).toEqual([...raw, ...policy]);
});
