/**
 * The stored form of PostgreSQL passwords (RFC 5803, RFC 7677). It is made here, so that no statement contains a
 * password, which the server might log.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";

const iterations = 4096;

/**
 * Returns SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>. Passwords are ASCII, so SASLprep would change
 * nothing.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, "sha256");
  const clientKey = createHmac("sha256", salted).update("Client Key").digest();
  const storedKey = createHash("sha256").update(clientKey).digest("base64");
  const serverKey = createHmac("sha256", salted).update("Server Key").digest("base64");
  return `SCRAM-SHA-256$${iterations}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}

/** Whether a stored form belongs to this password. */
export function scramMatches(stored: string, password: string): boolean {
  const salt = /^SCRAM-SHA-256\$4096:([^$]+)\$/.exec(stored)?.[1];
  if (salt === undefined) return false;
  const expected = Buffer.from(scramVerifier(password, Buffer.from(salt, "base64")));
  const given = Buffer.from(stored);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
