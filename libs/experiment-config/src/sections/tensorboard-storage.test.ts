import { describe, expect, it } from "vitest";
import { tensorboardStorage } from "../config.ts";
import { config, directory, parsed, problems, yaml } from "../testing/documents.ts";

describe("tensorboard_storage", () => {
  it.each([
    ["{type: directory, container_path: /a}", { type: "directory", container_path: "/a" }],
    ["{type: gcs, bucket: b, prefix: a}", { type: "gcs", bucket: "b", prefix: "a" }],
    ["{type: shared_fs, host_path: /a}", { type: "shared_fs", host_path: "/a", storage_path: "" }],
  ])("takes effect without a warning: %s", (storage, recorded) => {
    const { config: read, warnings } = parsed(yaml(`tensorboard_storage: ${storage}`));
    expect(read.tensorboard_storage).toEqual(recorded);
    expect(tensorboardStorage(read)).toBe(read.tensorboard_storage);
    expect(warnings).toEqual([]);
  });

  it("defaults to the checkpoint storage", () => {
    expect(config()).not.toHaveProperty("tensorboard_storage");
    expect(tensorboardStorage(config())).toMatchObject(directory);
  });

  it.each([
    ["{type: directory, container_path: here}", /^container_path must be an absolute path/],
    ["{type: s3}", /^bucket is missing: TensorBoard files of the type s3 are stored there$/],
    ["{bucket: b}", /^type is missing/],
    [
      "{type: azure, container: c, account_url: 'https://a'}",
      /^type is azure, to which this version does not write TensorBoard files; directory, shared_fs, s3, gcs work$/,
    ],
    ["{type: s3, bucket: b, prefix: a/../b}", /^prefix must not contain ".." as a folder$/],
    ["{type: gcs, bucket: b, save_trial_best: 1}", /^save_trial_best is not a known key/],
    ["{type: gcs, bucket: b, private_key: hidden}", /^private_key is not a known key$/],
  ])("is refused with its path: %s", (storage, problem) => {
    const found = problems(yaml(`tensorboard_storage: ${storage}`));
    expect(found).toEqual([expect.stringMatching(/^tensorboard_storage\./)]);
    expect(found[0]?.replace("tensorboard_storage.", "")).toMatch(problem);
    expect(found.join()).not.toContain("hidden");
  });

  it("refuses credentials without quoting them", () => {
    const storage = "{type: s3, bucket: b, access_key: hidden1, secret_key: hidden2}";
    const found = problems(yaml(`tensorboard_storage: ${storage}`));
    expect(found).toEqual([
      expect.stringMatching(
        /^tensorboard_storage\.access_key does not belong into a configuration/,
      ),
      expect.stringMatching(/^tensorboard_storage\.secret_key does not belong/),
    ]);
    expect(found.join()).not.toContain("hidden");
  });
});
