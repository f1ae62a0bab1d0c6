import { defineConfig } from "vitest/config";
import { aloneTests } from "./scripts/lib/alone-tests.ts";
import { repositoryFiles } from "./scripts/lib/repository-files.ts";
import { LongestFirst } from "./scripts/lib/test-order.ts";

const alone = aloneTests(repositoryFiles());

export default defineConfig({
  test: {
    // Real servers start in some tests, on machines that are shared: a limit only ends what hangs. The same holds for a
    // wait within a test, and for what tests give as their own limits.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
    // Two cores, and one worker more, since one or another waits for a server, a disk or a moment.
    maxWorkers: 3,
    globalSetup: ["scripts/lib/end-with-runner.ts"],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          // No module keeps state, so the files of a worker share one module graph: it takes longer to load than the
          // tests of most files.
          name: "shared",
          include: [
            "libs/**/*.test.ts",
            "services/**/*.test.ts",
            "deploy/**/*.test.ts",
            "scripts/**/*.test.ts",
            "test/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", ...alone],
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: [...alone] } },
    ],
  },
});
