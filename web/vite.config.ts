import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The pages, as the server embeds them. `npm run dev` shows them with the data of a server on the usual port.
export default defineConfig({
  plugins: [svelte()],
  build: { outDir: process.env.WEB_OUT ?? "dist", emptyOutDir: true, assetsInlineLimit: 0 },
  // The server takes requests of its own pages only, so it must see the name that the browser sees.
  server: { proxy: { "/api": { target: "http://127.0.0.1:7666", changeOrigin: false } } },
});
