/** The table of facts by which model versions are found. */
import type { Pool, PoolClient } from "pg";
import { factsOf, metricFact, semanticFact, stepFact } from "./core/models/facts.ts";
import { type Condition, type Operator } from "./core/models/where.ts";
import type { VersionDocument } from "./core/views/documents.ts";
import { readModelLimits } from "./limits.ts";

/** The newest versions whose names the error for an unknown name lists. */
const namesOfVersions = 100;

type Queryable = Pick<Pool | PoolClient, "query">;

export type Direction = "min" | "max";

export class VersionFacts {
  readonly #table: string;

  constructor(table = "gateway.version_facts") {
    this.#table = table;
  }

  /** Replaces the facts of these versions by those of their documents. */
  async replace(client: Queryable, versions: readonly VersionDocument[]): Promise<void> {
    if (versions.length === 0) return;
    await client.query(
      `delete from ${this.#table} f using unnest($1::text[], $2::int[]) as of(model, number)
       where f.model = of.model and f.number = of.number`,
      [versions.map(({ model }) => model), versions.map(({ number }) => number)],
    );
    const rows = versions.flatMap((version) =>
      factsOf(version).map((fact) => ({ version, ...fact })),
    );
    await client.query(
      `insert into ${this.#table} (model, fact, number, value_num, value_text)
       select * from unnest($1::text[], $2::text[], $3::int[], $4::float8[], $5::text[])`,
      [
        rows.map(({ version }) => version.model),
        rows.map(({ fact }) => fact),
        rows.map(({ version }) => version.number),
        rows.map(({ number }) => number),
        rows.map(({ text }) => text),
      ],
    );
  }

  /** Returns the number of the version with this semantic version; null for none. */
  async semantic(client: Queryable, model: string, version: string): Promise<number | null> {
    return this.#newestWith(client, model, semanticFact(version));
  }

  /** Returns the number of the newest version; null for none. */
  async latest(client: Queryable, model: string): Promise<number | null> {
    return this.#newestWith(client, model, stepFact);
  }

  /** Returns the number of the newest version that has the metric; null for none. */
  async measured(client: Queryable, model: string, metric: string): Promise<number | null> {
    return this.#newestWith(client, model, metricFact(metric));
  }

  /** Whether any version has the fact. */
  async has(client: Queryable, model: string, fact: string): Promise<boolean> {
    return (await this.#newestWith(client, model, fact)) !== null;
  }

  /** Returns the facts of the newest versions that begin with a prefix, without the prefix, in alphabetical order. */
  async namesOf(client: Queryable, model: string, prefix: string): Promise<readonly string[]> {
    const { rows } = await client.query<{ name: string }>(
      `select distinct substr(fact, length($2) + 1) as name from ${this.#table} f
       where f.model = $1 and starts_with(f.fact, $2) and f.number in (
         select number from ${this.#table} where model = $1 and fact = $3
         order by number desc limit $4)
       order by 1 limit $5`,
      [model, prefix, stepFact, namesOfVersions, readModelLimits.namesTold],
    );
    return rows.map(({ name }) => name);
  }

  async #newestWith(client: Queryable, model: string, fact: string): Promise<number | null> {
    const { rows } = await client.query<{ number: number }>(
      `select number from ${this.#table} where model = $1 and fact = $2
       order by number desc limit 1`,
      [model, fact],
    );
    return rows[0]?.number ?? null;
  }

  /** Returns the numbers of the best versions, best first; of equal ones the oldest first. */
  async best(
    client: Queryable,
    asked: {
      readonly model: string;
      readonly metric: string;
      readonly direction: Direction;
      readonly where: readonly Condition[];
      readonly limit: number;
    },
  ): Promise<readonly number[]> {
    const values: unknown[] = [asked.model, metricFact(asked.metric), asked.limit];
    const order = asked.direction === "min" ? "asc" : "desc";
    const { rows } = await client.query<{ number: number }>(
      `select v.number from ${this.#table} v
       where v.model = $1 and v.fact = $2 and v.value_num is not null
       ${this.#conditions(asked.where, "v.number", values)}
       order by v.value_num ${order}, v.number limit $3`,
      values,
    );
    return rows.map(({ number }) => number);
  }

  /** Returns the numbers of versions that are not removed, newest first, and below a number if one is given. */
  async matching(
    client: Queryable,
    asked: {
      readonly model: string;
      readonly where: readonly Condition[];
      readonly below: number | null;
      readonly limit: number;
    },
  ): Promise<readonly number[]> {
    const values: unknown[] = [asked.model, stepFact, asked.limit, asked.below];
    const { rows } = await client.query<{ number: number }>(
      `select v.number from ${this.#table} v
       where v.model = $1 and v.fact = $2 and ($4::int is null or v.number < $4)
       ${this.#conditions(asked.where, "v.number", values)}
       order by v.number desc limit $3`,
      values,
    );
    return rows.map(({ number }) => number);
  }

  /**
   * Makes conditions that are each looked up by primary key, for each version that the query reads. With a join
   * PostgreSQL might read the facts of all versions to find the first few.
   */
  #conditions(where: readonly Condition[], number: string, values: unknown[]): string {
    const of = (fact: string, column: string): string => {
      values.push(fact);
      return `(select w.${column} from ${this.#table} w
               where w.model = $1 and w.fact = $${values.length} and w.number = ${number})`;
    };
    const value = (given: unknown, type: string): string => {
      values.push(given);
      return `$${values.length}::${type}`;
    };
    const texts = where.map((condition) => {
      if (condition.kind === "label") {
        return `${of(condition.fact, "number")} is ${condition.has ? "not null" : "null"}`;
      }
      const { fact, operator, number: compared, text } = condition;
      const sign = signs[operator];
      if (compared === null) return `${of(fact, "value_text")} ${sign} ${value(text, "text")}`;
      const byNumber = `${of(fact, "value_num")} ${sign} ${value(compared, "float8")}`;
      if (operator !== "=") return byNumber;
      // Metadata that is a text of digits is compared as text too.
      return `(${byNumber} or ${of(fact, "value_text")} = ${value(text, "text")})`;
    });
    return texts.map((one) => `and ${one}`).join("\n");
  }
}

const signs: Readonly<Record<Operator, string>> = {
  "=": "=",
  "!=": "<>",
  "<": "<",
  "<=": "<=",
  ">": ">",
  ">=": ">=",
};
