/**
 * Hashes of passwords: argon2id (RFC 9106) in the PHC form, which has the parameters and the salt:
 * $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>. What is hashed is the form in which clients send a password: the
 * SHA-512 in hexadecimal of a fixed salt and the typed text, as Determined's clients send it. So the gateway never has
 * the text, and two hashes at a time bound its memory.
 */
import { argon2, createHash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Problem } from "../http/problem.ts";
import { HashTurns } from "./hash-turns.ts";
import { peopleLimits } from "./limits.ts";

const derived = promisify(argon2);

/** The salt before the typed password. It is that of Determined's clients, which can sign in with it. */
const formSalt = "GubPEmmotfiK9TMD6Zdw";

type Parameters = Readonly<Record<"memory" | "passes" | "parallelism" | "tagLength", number>>;

const current: Parameters = peopleLimits.hash;

/** Returns the form in which clients send a typed password. */
export function passwordForm(typed: string): string {
  return createHash("sha512").update(`${formSalt}${typed}`).digest("hex");
}

/** Throws a Problem of 400 for a password that is not in the form of clients. */
export function requireForm(password: string): void {
  if (/^[0-9a-f]{128}$/.test(password)) return;
  const detail =
    "a password is sent as 128 hexadecimal digits: the SHA-512 of its salt and the typed text";
  throw new Problem(400, "invalid_password", detail);
}

/** Returns a random password that a person can type: 99 bits, without letters that look alike. */
export function randomPassword(): string {
  const letters = "abcdefghjkmnpqrstuvwxyz23456789";
  const draw = (): string => letters[randomInt(letters.length)] ?? "";
  return Array.from({ length: 4 }, () => Array.from({ length: 5 }, draw).join("")).join("-");
}

export class Passwords {
  readonly #turns = new HashTurns();
  /** A hash that no password has: an unknown name takes as long as a wrong password. */
  readonly #none = phc(current, randomBytes(peopleLimits.hashSaltBytes), randomBytes(32));

  /** Returns the hash of a password. Throws a Problem of 429 if many hashes wait. */
  hash(password: string, from: string): Promise<string> {
    requireForm(password);
    return this.#turns.take(from, () => hashOf(password));
  }

  /**
   * Runs a check of a password in its turn. `check` gets the comparison with a stored hash, which is null for an
   * unknown name. Throws a Problem of 429 if many hashes wait.
   */
  checking<Result>(
    from: string,
    password: string,
    check: (matches: (stored: string | null) => Promise<boolean>) => Promise<Result>,
  ): Promise<Result> {
    requireForm(password);
    return this.#turns.take(from, () =>
      check((stored) => matches(stored ?? this.#none, password, stored !== null)),
    );
  }
}

/** Returns the hash of a password, outside any turn. */
export async function hashOf(password: string): Promise<string> {
  const salt = randomBytes(peopleLimits.hashSaltBytes);
  return phc(current, salt, await derive(current, salt, password));
}

/** Whether a hash was made with lower parameters than those of today. */
export function isOutdated(stored: string): boolean {
  const { memory, passes, parallelism, tagLength } = readPhc(stored).parameters;
  return (
    memory < current.memory ||
    passes < current.passes ||
    parallelism < current.parallelism ||
    tagLength < current.tagLength
  );
}

async function matches(stored: string, password: string, isKnown: boolean): Promise<boolean> {
  const { parameters, salt, hash } = readPhc(stored);
  return timingSafeEqual(await derive(parameters, salt, password), hash) && isKnown;
}

const derive = (parameters: Parameters, nonce: Buffer, message: string): Promise<Buffer> =>
  derived("argon2id", { ...parameters, nonce, message });

function phc({ memory, passes, parallelism }: Parameters, salt: Buffer, hash: Buffer): string {
  const [saltText, hashText] = [salt, hash].map((bytes) =>
    bytes.toString("base64").replace(/=+$/, ""),
  );
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${saltText}$${hashText}`;
}

const phcPattern =
  /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function readPhc(text: string) {
  const [, memory, passes, parallelism, salt, hash] = phcPattern.exec(text) ?? [];
  if (salt === undefined || hash === undefined) throw new Error("a stored hash has another form");
  const hashBytes = Buffer.from(hash, "base64");
  return {
    parameters: {
      ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
      tagLength: hashBytes.length,
    },
    salt: Buffer.from(salt, "base64"),
    hash: hashBytes,
  };
}
