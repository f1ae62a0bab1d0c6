import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { isStorable } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { comparison, contains } from "../../read-model/core/lists/filter.ts";
import { modelList } from "../../read-model/core/lists/lists.ts";
import { metricFact } from "../../read-model/core/models/facts.ts";
import { type Condition, readCondition } from "../../read-model/core/models/where.ts";
import {
  type ModelDocument,
  type VersionDocument,
  versionKey,
} from "../../read-model/core/views/documents.ts";
import { type Direction, VersionFacts } from "../../read-model/version-facts.ts";
import { apiLimits } from "../limits.ts";
import { rowsPage, withoutArchived } from "../lists.ts";
import { listPage, pageSize } from "../paging.ts";
import { shownModel, shownVersion } from "../shown.ts";

const facts = new VersionFacts();

export async function getModel(
  backend: Backend,
  { model, minPosition }: RequestOf<"getModel">,
): Promise<ReplyOf<"getModel">> {
  await backend.reachText(minPosition);
  return shownModel(await backend.get("model", model));
}

export async function listModels(
  backend: Backend,
  request: RequestOf<"listModels">,
  context: RequestContext,
): Promise<ReplyOf<"listModels">> {
  const { items, ...page } = await rowsPage(backend, modelList, request, {
    context,
    conditions: [
      ...withoutArchived(request),
      ...(request.name === "" ? [] : [contains("name", request.name)]),
      ...request.labels.map((label) => comparison("label", "=", label)),
    ],
  });
  return { ...page, items: items.map(shownModel) };
}

export async function listAliasMoves(
  backend: Backend,
  request: RequestOf<"listModelAliasMoves">,
): Promise<ReplyOf<"listModelAliasMoves">> {
  await backend.reachText(request.minPosition);
  const { name: parent } = await backend.get("model", request.model);
  const { alias } = request;
  // The query compares JSON text, so the alias must have no character that JSON escapes. Valid aliases have none.
  if (!/^[\w-]*$/.test(alias)) throw noAlias(parent, alias);
  return listPage(backend, "aliasMove", request, {
    parent,
    newestFirst: true,
    ...(alias === "" ? {} : { field: { name: "alias", value: alias } }),
  });
}

function noAlias(model: string, alias: string): Problem {
  const detail = `model ${model} has no alias ${JSON.stringify(alias)}`;
  return new Problem(404, "alias_not_found", detail);
}

/**
 * Returns the version with a number, semantic version or alias, or the latest. A number also finds a removed version.
 */
export async function findVersion(
  backend: Backend,
  name: string,
  version: string,
): Promise<VersionDocument> {
  const model = await backend.get("model", name);
  const number = await numberOf(backend, model, version);
  const found =
    number === null ? undefined : await backend.find("version", versionKey(name, number));
  if (found !== undefined) return found;
  const detail = `model ${name} has no version ${JSON.stringify(version.slice(0, 80))}`;
  throw new Problem(404, "version_not_found", detail);
}

async function numberOf(
  { parts }: Backend,
  model: ModelDocument,
  version: string,
): Promise<number | null> {
  if (/^[1-9][0-9]{0,8}$/.test(version)) return Number(version);
  if (version === "latest") return facts.latest(parts.pool, model.name);
  if (/^[0-9A-Za-z.+-]{5,63}$/.test(version) && version.includes(".")) {
    return facts.semantic(parts.pool, model.name, version);
  }
  return Object.hasOwn(model.aliases, version) ? (model.aliases[version] ?? null) : null;
}

export async function listVersions(
  backend: Backend,
  request: RequestOf<"listModelVersions">,
): Promise<ReplyOf<"listModelVersions">> {
  await backend.reachText(request.minPosition);
  const { name: model } = await backend.get("model", request.model);
  const where = readConditions(request.where);
  const size = pageSize(request.pageSize);
  const below = readBelow(request.pageToken);
  const { pool } = backend.parts;
  // The query fetches one version more than a page, to see whether another page follows.
  const numbers = await facts.matching(pool, { model, where, below, limit: size + 1 });
  if (numbers.length === 0) await requireKnown(backend, model, where);
  const page = numbers.slice(0, size);
  return {
    items: (await versionsOf(backend, model, page)).map(shownVersion),
    nextPageToken: numbers.length > size ? String(page.at(-1) ?? "") : "",
    position: backend.position,
  };
}

function readBelow(pageToken: string): number | null {
  if (pageToken === "") return null;
  if (/^[1-9][0-9]{0,8}$/.test(pageToken)) return Number(pageToken);
  throw new Problem(400, "invalid_request", "invalid page_token");
}

export async function bestVersions(
  backend: Backend,
  request: RequestOf<"bestModelVersions">,
): Promise<ReplyOf<"bestModelVersions">> {
  await backend.reachText(request.minPosition);
  const { name: model } = await backend.get("model", request.model);
  const { metric } = request;
  const where = readConditions(request.where);
  const limit = request.limit === 0 ? 1 : request.limit;
  if (limit > apiLimits.bestVersionsMax) {
    const detail = `limit is ${limit}; the maximum is ${apiLimits.bestVersionsMax}`;
    throw new Problem(400, "invalid_request", detail);
  }
  const direction = await directionOf(backend, model, metric, request.order);
  const { pool } = backend.parts;
  const numbers = await facts.best(pool, { model, metric, direction, where, limit });
  if (numbers.length === 0) await requireKnown(backend, model, where);
  const items = (await versionsOf(backend, model, numbers)).map(shownVersion);
  return { items, order: direction, position: backend.position };
}

/** Returns the requested direction, or else that of the search of the newest version that has the metric. */
async function directionOf(
  backend: Backend,
  model: string,
  metric: string,
  order: string,
): Promise<Direction> {
  const newest = isStorable(metric)
    ? await facts.measured(backend.parts.pool, model, metric)
    : null;
  if (newest === null) throw await noSuchName(backend, model, metricFact(metric));
  if (order === "min" || order === "max") return order;
  if (order !== "") {
    const detail = `order is ${JSON.stringify(order.slice(0, 80))} and should be min or max`;
    throw new Problem(400, "invalid_request", detail);
  }
  const version = await backend.find("version", versionKey(model, newest));
  if (version?.searcherMetric === metric) return version.smallerIsBetter ? "min" : "max";
  const detail = `${JSON.stringify(metric)} is not the metric of a search: set order to min or max`;
  throw new Problem(400, "order_missing", detail);
}

function readConditions(texts: readonly string[]): readonly Condition[] {
  if (texts.length > apiLimits.conditionsMax) {
    const detail = `there are ${texts.length} conditions; the maximum is ${apiLimits.conditionsMax}`;
    throw new Problem(400, "invalid_request", detail);
  }
  return texts.map((text) => {
    const condition = readCondition(text);
    if (typeof condition !== "string") return condition;
    throw new Problem(400, "invalid_request", condition);
  });
}

/** Throws a Problem if no version was found because a condition names a fact that none has. */
async function requireKnown(
  backend: Backend,
  model: string,
  where: readonly Condition[],
): Promise<void> {
  for (const condition of where) {
    if (condition.kind === "label") continue;
    if (await facts.has(backend.parts.pool, model, condition.fact)) continue;
    throw await noSuchName(backend, model, condition.fact);
  }
}

/** Makes a Problem with the names of the facts that the newest versions have. */
async function noSuchName(backend: Backend, model: string, fact: string): Promise<Problem> {
  const kind = fact.split(".", 1)[0] ?? "";
  const known = await facts.namesOf(backend.parts.pool, model, `${kind}.`);
  const there = known.length === 0 ? "none has any" : `known names are ${known.join(", ")}`;
  const detail = `no version of model ${model} has ${JSON.stringify(fact.slice(0, 200))}: ${there}`;
  return new Problem(404, "metric_not_found", detail);
}

async function versionsOf(
  { parts }: Backend,
  model: string,
  numbers: readonly number[],
): Promise<readonly VersionDocument[]> {
  const keys = numbers.map((number) => ({
    kind: "version" as const,
    id: versionKey(model, number),
  }));
  const rows = await parts.documents.fetch(parts.pool, keys);
  const found = new Map(rows.map((row) => [row.id, row.doc as VersionDocument]));
  return keys.flatMap(({ id }) => found.get(id) ?? []);
}
