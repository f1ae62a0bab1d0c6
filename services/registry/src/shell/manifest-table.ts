/** Manifests of checkpoints, by digest. Rows never change, so a repeated insert is only a lookup. */
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
  async put(checkpoint: string, digest: string, manifest: Manifest): Promise<void> {
    const { manifestRowsPerInsert } = registryLimits;
    for (let at = 0; at < manifest.length; at += manifestRowsPerInsert) {
      const rows = manifest.slice(at, at + manifestRowsPerInsert);
      await this.#run(
        `insert into registry.manifest_files (checkpoint, digest, path, bytes, sha256)
         select $1, $2, * from unnest($3::text[], $4::bigint[], $5::text[])
         on conflict do nothing`,
        [
          checkpoint,
          digest,
          rows.map(({ path }) => path),
          rows.map(({ bytes }) => bytes),
          rows.map(({ sha256 }) => sha256),
        ],
      );
    }
  }

  async get(checkpoint: string, digest: string): Promise<Manifest> {
    const rows = await this.#run(
      `select path, bytes, sha256 from registry.manifest_files
       where checkpoint = $1 and digest = $2 order by path`,
      [checkpoint, digest],
    );
    if (rows.length === 0) {
      const told = `the table has no manifest ${digest} of checkpoint ${checkpoint}`;
      throw new Fault("manifest_missing", told, { retry: "never" });
    }
    return rows.map(({ path, bytes, sha256 }) => ({ path, bytes: Number(bytes), sha256 }));
  }

  /** Deletes the manifests of some deleted checkpoints. Returns whether there may be more. */
  async forgetGone(): Promise<boolean> {
    const { manifestsPerPurge } = registryLimits;
    const some = "select checkpoint from registry.gone order by checkpoint limit $1";
    const rows = await this.#run<{ readonly checkpoint: string }>(some, [manifestsPerPurge]);
    const gone = rows.map(({ checkpoint }) => checkpoint);
    if (gone.length === 0) return false;
    await this.forget(gone);
    await this.#run("delete from registry.gone where checkpoint = any($1)", [gone]);
    return gone.length === manifestsPerPurge;
  }

  /** Deletes the manifests of checkpoints that nobody reads again. */
  async forget(checkpoints: readonly string[]): Promise<void> {
    const text = "delete from registry.manifest_files where checkpoint = any($1)";
    await this.#run(text, [checkpoints]);
  }

  async #run<Found extends object = Row>(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Found[]> {
    try {
      return (await this.#pool.query<Found>(text, [...values])).rows;
    } catch (cause) {
      throw new Fault("database_away", "the table of manifests does not answer", {
        retry: "later",
        cause,
      });
    }
  }
}
