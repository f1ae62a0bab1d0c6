import { expect, test } from "vitest";
import { type BrowserRequest, refuseForeignRequest } from "./request-rules.ts";

const host = "t12.localhost:8080";
const own = `http://${host}`;

function refusal(asked: Partial<BrowserRequest>): string {
  const headers = { host, ...asked.headers };
  try {
    refuseForeignRequest({ method: "GET", isUpgrade: false, ...asked, headers });
    return "";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const site = (value: string, more = {}) => ({ "sec-fetch-site": value, ...more });
const navigation = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

test.each<[string, Partial<BrowserRequest>]>([
  ["a read by a browser that sends no such headers", {}],
  ["a read of the task's own page", { headers: site("same-origin") }],
  ["an address that a person typed", { headers: site("none", navigation) }],
  ["a link on another site", { headers: site("cross-site", navigation) }],
  ["a link on the Web UI", { headers: site("same-site", navigation) }],
  ["a change by the task's own page", { method: "POST", headers: { origin: own } }],
  ["a WebSocket of the task's own page", { isUpgrade: true, headers: { origin: own } }],
])("%s is admitted", (_what, asked) => {
  expect(refusal(asked)).toBe("");
});

test.each<[string, Partial<BrowserRequest>, string]>([
  ["an image on another task's page", { headers: site("same-site") }, "cross_origin"],
  [
    "a frame on another site",
    { headers: site("cross-site", { ...navigation, "sec-fetch-dest": "iframe" }) },
    "cross_origin",
  ],
  [
    "a form of another site",
    {
      method: "POST",
      headers: site("cross-site", { ...navigation, origin: "https://evil.example" }),
    },
    "cross_origin",
  ],
  ["a change without an origin", { method: "POST" }, "no_origin"],
  [
    "a change by a page without an origin",
    { method: "PUT", headers: { origin: "null" } },
    "cross_origin",
  ],
  [
    "a change by another task",
    { method: "DELETE", headers: { origin: "http://t13.localhost:8080" } },
    "cross_origin",
  ],
  [
    "a change by the same host at another port",
    { method: "POST", headers: { origin: "http://t12.localhost:9090" } },
    "cross_origin",
  ],
  ["a WebSocket without an origin", { isUpgrade: true }, "no_origin"],
  [
    "a WebSocket of another task",
    { isUpgrade: true, headers: { origin: "http://t13.localhost:8080" } },
    "cross_origin",
  ],
  [
    "a read with the origin of another task",
    { headers: { origin: "http://t13.localhost:8080" } },
    "cross_origin",
  ],
])("%s is refused", (_what, asked, code) => {
  expect(refusal(asked)).toBe(code);
});
