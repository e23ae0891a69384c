// Every page and its path. What stands in parentheses is handed to the page as `params`.
import type { Component } from "svelte";
import Bots from "./Bots.svelte";
import Embed from "./Embed.svelte";
import Home from "./Home.svelte";
import Learn from "./Learn.svelte";
import Match from "./Match.svelte";
import NewTournament from "./NewTournament.svelte";
import Party from "./Party.svelte";
import PartyHost from "./PartyHost.svelte";
import PartyPhone from "./PartyPhone.svelte";
import PartyWall from "./PartyWall.svelte";
import Play from "./Play.svelte";
import Replay from "./Replay.svelte";
import Table from "./Table.svelte";
import TableReplay from "./TableReplay.svelte";
import Tournament from "./Tournament.svelte";
import Tournaments from "./Tournaments.svelte";

export interface Page {
  path: RegExp;
  title: string;
  component: Component<{ params: string[] }>;
  /** Without the header: for phones and walls. */
  bare?: boolean;
}

export const pages: Page[] = [
  { path: /^\/$/, title: "Home", component: Home },
  { path: /^\/bots$/, title: "Bring your own bot", component: Bots },
  { path: /^\/learn$/, title: "Learn", component: Learn },
  { path: /^\/play$/, title: "Play", component: Play },
  { path: /^\/tables\/([^/]+)$/, title: "Table", component: Table },
  { path: /^\/replay$/, title: "Replay", component: Replay },
  { path: /^\/tournaments$/, title: "Tournaments", component: Tournaments },
  { path: /^\/tournaments\/new$/, title: "New tournament", component: NewTournament },
  { path: /^\/tournaments\/([^/]+)$/, title: "Tournament", component: Tournament },
  { path: /^\/tournaments\/([^/]+)\/matches\/(\d+)\/(\d+)$/, title: "Match", component: Match },
  { path: /^\/tables\/([^/]+)\/replay$/, title: "Replay", component: TableReplay },
  { path: /^\/embed\/tournaments\/[^/]+\/matches\/\d+\/\d+$/, title: "Match", component: Embed, bare: true },
  { path: /^\/embed\/tables\/[^/]+\/replay$/, title: "Replay", component: Embed, bare: true },
  { path: /^\/party$/, title: "Party", component: Party },
  { path: /^\/party\/([^/]+)$/, title: "Party", component: PartyPhone, bare: true },
  { path: /^\/party\/([^/]+)\/wall$/, title: "Party", component: PartyWall, bare: true },
  { path: /^\/party\/([^/]+)\/host$/, title: "Host a party", component: PartyHost },
];
