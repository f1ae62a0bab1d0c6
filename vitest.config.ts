import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [
      "libs/**/*.test.ts",
      "services/**/*.test.ts",
      "deploy/**/*.test.ts",
      "test/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**"],
    // Two cores: more workers than that only slow each other.
    maxWorkers: 2,
  },
});
