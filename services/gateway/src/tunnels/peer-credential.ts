/**
 * The credential of a replica at another one. Its key is derived from the key of the runs' tokens, which all replicas
 * have, by a label of its own: so no token of a run is a credential, nor the reverse. It opens only tunnels.
 *
 *   Trainyard-Peer <key id>.<ms since 1970>.<base64url(mac)>
 *   mac = HMAC-SHA256(HKDF-SHA256(key, "trainyard gateway peers 1"), "<key id>.<ms since 1970>")
 */
import { createHmac, hkdfSync, type KeyObject, timingSafeEqual } from "node:crypto";
import { assert } from "@trainyard/kernel";
import { tunnelRoomLimits } from "./limits.ts";

type Keys = ReadonlyMap<string, KeyObject>;

/** Returns the value of the header Authorization. The last key is the one with which this replica signs. */
export function peerCredential(keys: Keys, nowMs: number): string {
  const last = [...keys].at(-1);
  assert(last !== undefined, "a gateway has a key of the runs' tokens");
  const claim = `${last[0]}.${Math.round(nowMs)}`;
  return `Trainyard-Peer ${claim}.${mac(last[1], claim).toString("base64url")}`;
}

/** Returns whether a header Authorization is a valid credential at this time. */
export function isPeerCredential(keys: Keys, header: string | undefined, nowMs: number): boolean {
  const [, id = "", at = "", shown = ""] =
    /^Trainyard-Peer ([A-Za-z0-9_-]+)\.([0-9]{1,15})\.([A-Za-z0-9_-]{43})$/.exec(header ?? "") ??
    [];
  const key = keys.get(id);
  if (key === undefined) return false;
  const isOurs = timingSafeEqual(mac(key, `${id}.${at}`), Buffer.from(shown, "base64url"));
  return isOurs && Math.abs(nowMs - Number(at)) <= tunnelRoomLimits.credentialMs;
}

function mac(key: KeyObject, claim: string): Buffer {
  const derived = hkdfSync("sha256", key, "", "trainyard gateway peers 1", 32);
  return createHmac("sha256", Buffer.from(derived)).update(claim).digest();
}
