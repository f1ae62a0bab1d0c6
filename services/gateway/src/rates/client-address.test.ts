import { expect, test } from "vitest";
import { siteOf, TrustedProxies } from "./client-address.ts";

const proxies = new TrustedProxies("10.0.0.0/8, 192.0.2.7,fd00::/8");

test("an address behind trusted proxies is the last one that none of them has", () => {
  expect(proxies.clientOf("10.1.2.3", "203.0.113.5")).toBe("203.0.113.5");
  expect(proxies.clientOf("::ffff:10.1.2.3", "203.0.113.5, 192.0.2.7")).toBe("203.0.113.5");
  expect(proxies.clientOf("fd00::1", "2001:db8::5, 10.9.9.9")).toBe("2001:db8::5");
  expect(proxies.clientOf("10.1.2.3", "10.7.7.7")).toBe("10.7.7.7");
});

test("an address with a port, as some proxies write it, is that address", () => {
  expect(proxies.clientOf("10.1.2.3", "203.0.113.5:40312")).toBe("203.0.113.5");
  expect(proxies.clientOf("10.1.2.3", "203.0.113.5:40312, 10.9.9.9:80")).toBe("203.0.113.5");
  expect(proxies.clientOf("fd00::1", "[2001:db8::5]:40312")).toBe("2001:db8::5");
  expect(proxies.clientOf("fd00::1", "[2001:db8::5]")).toBe("2001:db8::5");
  expect(proxies.clientOf("fd00::1", "2001:db8::5:80")).toBe("2001:db8::5:80");
});

test("an address that a client has made up does not count", () => {
  expect(proxies.clientOf("203.0.113.5", "198.51.100.1")).toBe("203.0.113.5");
  expect(proxies.clientOf("10.1.2.3", "198.51.100.1, 203.0.113.5")).toBe("203.0.113.5");
  expect(proxies.clientOf("10.1.2.3", "198.51.100.1, no address")).toBe("10.1.2.3");
  expect(proxies.clientOf("10.1.2.3", undefined)).toBe("10.1.2.3");
  expect(new TrustedProxies("").clientOf("127.0.0.1", "198.51.100.1")).toBe("127.0.0.1");
});

test("a /64 of IPv6 is one client", () => {
  expect(siteOf("2001:db8:1:2:3:4:5:6")).toBe(siteOf("2001:db8:1:2::1"));
  expect(siteOf("2001:db8:1:3::1")).not.toBe(siteOf("2001:db8:1:2::1"));
  expect(siteOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
});
