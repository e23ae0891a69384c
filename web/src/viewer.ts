// Replays in a file of their own: the films stand in the page.
import { mount } from "svelte";
import Alone from "./replay/Alone.svelte";
import type { Film } from "./lib/schema";
import "./theme.css";

const target = document.getElementById("app");
const films = JSON.parse(document.getElementById("film")?.textContent ?? "[]") as Film[];
if (target && films.length) mount(Alone, { target, props: { films } });
