// A replay in a file of its own: the film stands in the page.
import { mount } from "svelte";
import Alone from "./replay/Alone.svelte";
import type { Film } from "./lib/schema";
import "./theme.css";

const target = document.getElementById("app");
const film = JSON.parse(document.getElementById("film")?.textContent ?? "null") as Film | null;
if (target && film) mount(Alone, { target, props: { film } });
