import { defineConfig } from "vitest/config";

// `unit` shares one module graph (fast); what starts processes, git or whole runs is `system`.
export default defineConfig({
  test: {
    reporters: ["default", "json"],
    outputFile: { json: ".ci/results.json" },
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", "test/attacks/**", "test/**/*.system.test.ts"],
          isolate: false,
        },
      },
      {
        test: {
          name: "system",
          include: ["test/e2e/**/*.test.ts", "test/attacks/**/*.test.ts", "test/**/*.system.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
