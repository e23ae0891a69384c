import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The viewer of a replay as one script and one style sheet, for files that open from disk.
export default defineConfig({
  plugins: [svelte()],
  publicDir: false,
  build: {
    outDir: `${process.env.WEB_OUT ?? "dist"}/viewer`,
    emptyOutDir: true,
    lib: {
      entry: "src/viewer.ts",
      formats: ["iife"],
      name: "viewer",
      fileName: () => "viewer.js",
      cssFileName: "viewer",
    },
  },
});
