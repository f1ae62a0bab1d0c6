import { createSecretKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readRunToken, runToken } from "./run-token.ts";

const key = { id: "k1", secret: Buffer.alloc(32, 7) };
const keys = new Map([[key.id, createSecretKey(key.secret)]]);

describe("a run's token", () => {
  // The format must never change: agents and training processes of one version use services of another.
  it("keeps its format", () => {
    expect(runToken(key, "12.3#2", 4711)).toBe(
      "ty1.k1.MTIuMyMy.4711.NWBoRicJaM5sueGPo8HNGdNAzMTojy9ZwWd3Yl-KgZU",
    );
  });

  it("names the allocation and the position of its grant", () => {
    expect(readRunToken(keys, runToken(key, "12.3#2", 4711))).toEqual({
      allocation: "12.3#2",
      grantPosition: 4711,
    });
  });

  it("with another key, allocation or grant is refused", () => {
    const token = runToken(key, "12.3#2", 4711);
    expect(readRunToken(new Map([["k1", createSecretKey(Buffer.alloc(32, 8))]]), token)).toBeNull();
    expect(readRunToken(new Map(), token)).toBeNull();
    expect(readRunToken(keys, token.replace(".4711.", ".4712."))).toBeNull();
    expect(readRunToken(keys, token.replace("MTIuMyMy", "MTIuMyMz"))).toBeNull();
    expect(readRunToken(keys, `${token}x`)).toBeNull();
  });
});
