import { mount } from "svelte";
import App from "./App.svelte";
// An open font (OFL), sent by this server.
import "@fontsource-variable/bricolage-grotesque/wght.css";
import "./theme.css";

const target = document.getElementById("app");
if (target) mount(App, { target });
