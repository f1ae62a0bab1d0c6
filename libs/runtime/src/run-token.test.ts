import { createSecretKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readRunToken, runToken } from "./run-token.ts";

const key = { id: "k1", secret: Buffer.alloc(32, 7) };
const keys = new Map([[key.id, createSecretKey(key.secret)]]);

describe("a run's token", () => {
  // Frozen: agents and training processes of one version talk to services of another.
  it("keeps its form", () => {
    expect(runToken(key, "12.3#2", 4711)).toBe(
      "ty1.k1.MTIuMyMy.4711.NWBoRicJaM5sueGPo8HNGdNAzMTojy9ZwWd3Yl-KgZU",
    );
  });

  it("says which allocation speaks, and since when", () => {
    expect(readRunToken(keys, runToken(key, "12.3#2", 4711))).toEqual({
      allocation: "12.3#2",
      grantPosition: 4711,
    });
  });

  it("of another key, allocation or grant is refused", () => {
    const token = runToken(key, "12.3#2", 4711);
    expect(readRunToken(new Map([["k1", createSecretKey(Buffer.alloc(32, 8))]]), token)).toBeNull();
    expect(readRunToken(new Map(), token)).toBeNull();
    expect(readRunToken(keys, token.replace(".4711.", ".4712."))).toBeNull();
    expect(readRunToken(keys, token.replace("MTIuMyMy", "MTIuMyMz"))).toBeNull();
    expect(readRunToken(keys, `${token}x`)).toBeNull();
  });
});
