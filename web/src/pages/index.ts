// Every page and its path. What stands in parentheses is handed to the page as `params`. A page is fetched when it is opened first.
import type { Component } from "svelte";

export type Shown = Component<{ params: string[] }>;

export interface Page {
  path: RegExp;
  title: string;
  load: () => Promise<{ default: Shown }>;
  /** Without the header: for phones and walls. */
  bare?: boolean;
  /** Without the navigation on a phone: for boards. */
  tight?: boolean;
}

const embed = () => import("./Embed.svelte");

export const pages: Page[] = [
  { path: /^\/$/, title: "Home", load: () => import("./Home.svelte") },
  { path: /^\/bots$/, title: "Bring your own bot", load: () => import("./Bots.svelte") },
  { path: /^\/learn$/, title: "Learn", load: () => import("./Learn.svelte") },
  { path: /^\/play$/, title: "Play", load: () => import("./Play.svelte") },
  { path: /^\/tables\/([^/]+)$/, title: "Table", load: () => import("./Table.svelte"), tight: true },
  { path: /^\/replay$/, title: "Replay", load: () => import("./Replay.svelte") },
  { path: /^\/tournaments$/, title: "Tournaments", load: () => import("./Tournaments.svelte") },
  { path: /^\/tournaments\/new$/, title: "New tournament", load: () => import("./NewTournament.svelte") },
  { path: /^\/tournaments\/([^/]+)$/, title: "Tournament", load: () => import("./Tournament.svelte") },
  {
    path: /^\/tournaments\/([^/]+)\/matches\/(\d+)\/(\d+)$/,
    title: "Match",
    load: () => import("./Match.svelte"),
  },
  { path: /^\/tables\/([^/]+)\/replay$/, title: "Replay", load: () => import("./TableReplay.svelte") },
  { path: /^\/embed\/tournaments\/[^/]+\/matches\/\d+\/\d+$/, title: "Match", load: embed, bare: true },
  { path: /^\/embed\/tables\/[^/]+\/replay$/, title: "Replay", load: embed, bare: true },
  { path: /^\/party$/, title: "Party", load: () => import("./Party.svelte") },
  { path: /^\/party\/([^/]+)$/, title: "Party", load: () => import("./PartyPhone.svelte"), bare: true },
  { path: /^\/party\/([^/]+)\/wall$/, title: "Party", load: () => import("./PartyWall.svelte"), bare: true },
  { path: /^\/party\/([^/]+)\/host$/, title: "Host a party", load: () => import("./PartyHost.svelte") },
];
