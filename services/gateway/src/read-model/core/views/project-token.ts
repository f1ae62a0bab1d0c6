import type { Projections } from "./projections.ts";

export const tokenProjections: Projections = {
  TokenIssued({ id, data, timeMs }, documents) {
    const { label, owner, secretDigest, expiresAtMs, ancestors, limits } = data;
    documents.put({
      kind: "token",
      id,
      parent: "",
      ordinal: timeMs,
      doc: {
        id,
        label,
        owner,
        createdAtMs: timeMs,
        revoked: false,
        secretDigest,
        ancestors,
        limits,
        ...(expiresAtMs > 0 ? { expiresAtMs } : {}),
      },
    });
  },
  TokenRevoked({ id }, documents) {
    documents.update("token", id, () => ({ revoked: true }));
  },
};
