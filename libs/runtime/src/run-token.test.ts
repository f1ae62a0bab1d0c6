import { createSecretKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readRunToken, runToken } from "./run-token.ts";

const key = { id: "k1", secret: Buffer.alloc(32, 7) };
const keys = new Map([[key.id, createSecretKey(key.secret)]]);

const grantId = "01890a5d-ac96-774b-bcce-b302099a8057";
const grant = { allocation: "12.3#2", grantPosition: 4711, grantId };

describe("a run's token", () => {
  // The format must never change: agents and training processes of one version use services of another.
  it("keeps its format", () => {
    expect(runToken(key, grant)).toBe(
      `ty1.k1.MTIuMyMy.4711.${grantId}.UBOUAZbZ5pCdCGHAdFERGVXT6abFldobxjbXmxWnwcY`,
    );
  });

  it("names the allocation, and the position and id of its grant", () => {
    expect(readRunToken(keys, runToken(key, grant))).toEqual(grant);
  });

  it("with another key, allocation or grant is refused", () => {
    const token = runToken(key, grant);
    expect(readRunToken(new Map([["k1", createSecretKey(Buffer.alloc(32, 8))]]), token)).toBeNull();
    expect(readRunToken(new Map(), token)).toBeNull();
    expect(readRunToken(keys, token.replace(".4711.", ".4712."))).toBeNull();
    expect(readRunToken(keys, token.replace("01890a5d", "01890a5e"))).toBeNull();
    expect(readRunToken(keys, token.replace("MTIuMyMy", "MTIuMyMz"))).toBeNull();
    expect(readRunToken(keys, `${token}x`)).toBeNull();
  });
});
