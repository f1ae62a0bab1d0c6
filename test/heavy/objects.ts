/**
 * The objects that the fields of paths name: for each field, one that lasts, which reads use, and a new one, which a
 * call may change or delete.
 */
import { randomUUID } from "node:crypto";
import type { HeavyStage } from "./heavy-stage.ts";
import type { KnownValues } from "./heavy-requests.ts";
import type { HeavyRoute } from "./routes.ts";

type Named = {
  readonly lasting: (stage: HeavyStage) => string;
  /** Absent for an object that no call removes. */
  readonly fresh?: (stage: HeavyStage) => Promise<string>;
};

/** By the name of the field, after the part of the path before it where the same name means several things. */
const objects: Readonly<Record<string, Named>> = {
  experiment: {
    lasting: ({ large }) => large,
    fresh: ({ world }) => world.submitPaused(small, "idle"),
  },
  other: { lasting: ({ stepped }) => stepped },
  trial: {
    lasting: ({ large }) => `${large}.1`,
    fresh: async ({ world }) => {
      const experiment = await world.submit(small, "idle");
      await world.untilTrials(experiment, (trials) => trials.length > 0);
      return `${experiment}.1`;
    },
  },
  run: { lasting: ({ heavyRun }) => heavyRun.run },
  checkpoint: {
    lasting: ({ checkpoint }) => checkpoint,
    fresh: async ({ heavyRun, world }) => {
      const checkpoint = randomUUID();
      const body = JSON.stringify({ run: heavyRun.run, checkpoint, stepsCompleted: 1 });
      const headers = {
        authorization: `Bearer ${heavyRun.token}`,
        "content-type": "application/json",
      };
      await fetch(`${world.api}/api/v1/checkpoints`, { method: "POST", headers, body });
      return checkpoint;
    },
  },
  model: {
    lasting: ({ model }) => model,
    fresh: (stage) => stage.createModel(newName()),
  },
  version: { lasting: () => "1" },
  alias: { lasting: () => "best" },
  task: {
    lasting: ({ task }) => task,
    fresh: (stage) => stage.createTask(),
  },
  workspace: {
    lasting: ({ workspace }) => workspace,
    fresh: (stage) => stage.createWorkspace(newName()),
  },
  project: { lasting: () => "project" },
  token: {
    lasting: ({ tokens }) => tokens.spare,
    fresh: async ({ world }) =>
      (await world.client.call("createToken", { label: "spare" })).token?.id ?? "",
  },
  user: { lasting: () => "local", fresh: newUser },
  group: {
    lasting: () => "everyone",
    fresh: async (stage) => {
      // Groups are made in clusters with users only.
      const members = [await newUser(stage)];
      const { group } = await stage.world.client.call("createGroup", { name: newName(), members });
      return group?.name ?? "";
    },
  },
  role: {
    lasting: () => "viewer",
    fresh: async ({ world }) => {
      const name = newName();
      await world.client.call("defineRole", { role: name, permissions: ["model_view"] });
      return name;
    },
  },
  grant: {
    lasting: () => "everyone-default",
    fresh: async (stage) => {
      const given = { role: "viewer", user: await newUser(stage), workspace: "default" };
      const { grant } = await stage.world.client.call("giveRole", given);
      return grant?.id ?? "";
    },
  },
  code: {
    lasting: () => "BCDF-GHJK",
    fresh: async ({ world }) =>
      (await world.client.call("startDeviceLogin", { program: "heavy" })).code,
  },
  job: { lasting: ({ large }) => large, fresh: ({ world }) => world.submit(small, "idle") },
  position: { lasting: () => "1" },
  event: { lasting: () => randomUUID() },
  "agents/name": { lasting: ({ agent }) => agent },
  "subscriptions/name": {
    lasting: ({ subscription }) => subscription,
    fresh: (stage) => stage.createSubscription(newName()),
  },
  "pools/name": {
    lasting: () => "default",
    fresh: async ({ world }) => {
      const name = newName();
      await world.client.call("createPool", { name });
      return name;
    },
  },
};

/** Texts of bodies that are read further if they are right. */
const texts = ({ context }: HeavyStage): KnownValues => ({
  config: small,
  context,
  kind: "command",
  command: "true",
  name: "heavy",
  verb: "pause",
  delivery: "pull",
  group: "validation",
  names: "layer.1.norm",
  metric: "loss",
  key: "0-{n}",
  paths: "state.json",
  sources: "1",
});

const small = `
name: small
entrypoint: sleep 3600
searcher: { name: single, metric: loss }
`;

/** Makes a person. The first one makes the cluster one with users, whose tokens are then those of an admin. */
async function newUser({ world }: HeavyStage): Promise<string> {
  const name = newName();
  await world.client.call("createUser", { name });
  return name;
}

const newName = (): string => `heavy-${randomUUID().slice(0, 8)}`;

/** Returns the object of a field of the path; undefined without one. */
function objectOf(path: string, field: string): Named | undefined {
  const before = path
    .slice(0, path.indexOf(`/{${field}}`))
    .split("/")
    .at(-1);
  return objects[`${before}/${field}`] ?? objects[field];
}

/** The fields of a route's path that have no object: a new one needs a line in the table above. */
export const fieldsWithoutObject = ({
  route: { path, pathFields },
}: HeavyRoute): readonly string[] =>
  pathFields.filter((field) => objectOf(path, field) === undefined);

/** Returns the values for the requests of a route. A call that changes something gets new objects. */
export async function valuesFor(stage: HeavyStage, { route }: HeavyRoute): Promise<KnownValues> {
  const { method, path, pathFields, request, facts } = route;
  const changes = method !== "GET" && !facts.postedRead;
  const values: Record<string, string> = { ...texts(stage) };
  const named = [...pathFields, ...request.fields.map(({ name }) => name.replace(/s$/, ""))];
  for (const field of new Set(named)) {
    const object = pathFields.includes(field) ? objectOf(path, field) : objects[field];
    if (object === undefined) continue;
    const { fresh } = object;
    values[field] = changes && fresh ? await fresh(stage) : object.lasting(stage);
  }
  return values;
}
