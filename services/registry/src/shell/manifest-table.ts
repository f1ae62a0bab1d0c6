/** Manifests by digest. Rows never change, so a repeated insert is only a lookup. */
import type { Pool } from "pg";
import { Fault } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";

type Row = { readonly path: string; readonly bytes: string; readonly sha256: string };

export class ManifestTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Stores a manifest; it is durable once the promise resolves. The next call completes an insert that a crash
   * interrupted.
   */
  async put(digest: string, manifest: Manifest): Promise<void> {
    const { manifestRowsPerInsert } = registryLimits;
    for (let at = 0; at < manifest.length; at += manifestRowsPerInsert) {
      const rows = manifest.slice(at, at + manifestRowsPerInsert);
      await this.#run(
        `insert into registry.manifest_files (digest, path, bytes, sha256)
         select $1, * from unnest($2::text[], $3::bigint[], $4::text[]) on conflict do nothing`,
        [
          digest,
          rows.map(({ path }) => path),
          rows.map(({ bytes }) => bytes),
          rows.map(({ sha256 }) => sha256),
        ],
      );
    }
  }

  async get(digest: string): Promise<Manifest> {
    const rows = await this.#run(
      "select path, bytes, sha256 from registry.manifest_files where digest = $1 order by path",
      [digest],
    );
    if (rows.length === 0) {
      throw new Fault("manifest_missing", `the table has no manifest ${digest}`, {
        retry: "never",
      });
    }
    return rows.map(({ path, bytes, sha256 }) => ({ path, bytes: Number(bytes), sha256 }));
  }

  async #run(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(text, [...values])).rows;
    } catch (cause) {
      throw new Fault("database_away", "the table of manifests does not answer", {
        retry: "later",
        cause,
      });
    }
  }
}
