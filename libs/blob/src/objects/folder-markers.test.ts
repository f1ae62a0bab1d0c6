/** Tests of objects that other tools leave in a bucket: consoles and mounts create `<folder>/` without content. */
import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server } from "@trainyard/testing/s3";
import { expect, test } from "vitest";
import { markStore, removeCheckpointObjects } from "./checkpoint-objects.ts";
import { openS3Store } from "./s3/index.ts";

const checkpoint = "00000000-0000-4000-8000-000000000001";
const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret" };

test("a checkpoint in whose folder a console has left a marker object can be deleted", async () => {
  await using server = await S3Server.start({ buckets: ["bucket"], users: [credentials] });
  const options = { bucket: "bucket", endpoint: server.url, credentials, clock: systemClock };
  await using store = openS3Store(options);
  const id = await markStore(store);
  await store.put(`${checkpoint}/weights`, Buffer.from("w"));
  const objects = server.buckets.get("bucket")?.objects;
  const weights = objects?.get(`${checkpoint}/weights`);
  if (objects === undefined || weights === undefined) throw new Error("nothing was stored");
  objects.set(`${checkpoint}/`, { ...weights, key: `${checkpoint}/` });
  await removeCheckpointObjects(store, checkpoint, id);
  expect([...objects.keys()].filter((key) => key.startsWith(checkpoint))).toEqual([]);
});
