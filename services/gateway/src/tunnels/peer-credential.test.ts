import { createSecretKey } from "node:crypto";
import { expect, test } from "vitest";
import { tunnelRoomLimits } from "./limits.ts";
import { isPeerCredential, peerCredential } from "./peer-credential.ts";

const key = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const old = new Map([["1", key(1)]]);
const rotated = new Map([
  ["1", key(1)],
  ["2", key(2)],
]);
const nowMs = 1_800_000_000_000;

test("replicas admit each other in each step of a rotation of the key", () => {
  expect(isPeerCredential(rotated, peerCredential(old, nowMs), nowMs)).toBe(true);
  expect(isPeerCredential(rotated, peerCredential(rotated, nowMs), nowMs)).toBe(true);
  expect(isPeerCredential(old, peerCredential(rotated, nowMs), nowMs)).toBe(false);
});

test("a credential is valid for a minute in both directions, for clocks that differ", () => {
  const shown = peerCredential(old, nowMs);
  const { credentialMs } = tunnelRoomLimits;
  expect(isPeerCredential(old, shown, nowMs + credentialMs)).toBe(true);
  expect(isPeerCredential(old, shown, nowMs - credentialMs)).toBe(true);
  expect(isPeerCredential(old, shown, nowMs + credentialMs + 1)).toBe(false);
});

test.each([
  ["none", undefined],
  ["that of another key", peerCredential(new Map([["1", key(9)]]), nowMs)],
  ["one whose time was changed", peerCredential(old, nowMs).replace(/\.18/, ".19")],
  ["another text", "Trainyard-Peer x"],
  ["a token", "Bearer ty_0123456789abcdef_x"],
])("a credential is refused: %s", (_what, shown) => {
  expect(isPeerCredential(old, shown, nowMs)).toBe(false);
});
