import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { gatewayServices } from "./calls.ts";
import { gatewayRoutes } from "./routes.ts";

const folder = join(import.meta.dirname, "gen/trainyard/api/v1");

/** Returns the services that proto/trainyard/api/v1 declares. */
async function declaredServices(): Promise<readonly DescService[]> {
  const modules = await Promise.all(
    readdirSync(folder).map(
      async (file) => (await import(join(folder, file))) as Readonly<Record<string, unknown>>,
    ),
  );
  return modules.flatMap((module) => Object.values(module)).filter(isService);
}

function isService(exported: unknown): exported is DescService {
  return (exported as { readonly kind?: unknown } | null)?.kind === "service";
}

test("the gateway serves every service of the public API over REST except those for reports and uploads", async () => {
  const served = gatewayServices.map(({ name }) => name);
  const declared = (await declaredServices()).map(({ name }) => name);
  expect(declared.toSorted()).toEqual([...served, "ReportService", "UploadService"].toSorted());
});

test("all methods of the API have different names, because handlers and callers select them by name", () => {
  const names = gatewayServices.flatMap(({ methods }: DescService) =>
    methods.map(({ localName }) => localName),
  );
  expect(names).toEqual([...new Set(names)]);
});

test("a route has its call and the kind of its answer", () => {
  const kinds = Object.fromEntries(gatewayRoutes().map(({ call, kind }) => [call, kind]));
  expect(kinds).toMatchObject({
    getTrial: "unary",
    watchEvents: "stream",
    downloadCheckpoint: "raw",
  });
});
