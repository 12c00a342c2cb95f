/* Draws every <figure data-chart> from the Vega-Lite JSON in its <script type="application/json">.
 *
 *   <figure data-chart="engagingness" data-table="table-id" data-csv="/path.csv"
 *           aria-labelledby="caption-id">
 *     <figcaption id="caption-id">…</figcaption>
 *     <script type="application/json">{"data": …, "mark": …}</script>
 *   </figure>
 *   <table id="table-id">…</table>
 *
 * The value of data-chart names the saved files; data-csv is optional. Load this file as a module:
 * it brings what it needs. Expressions are interpreted, never compiled, so a policy without
 * unsafe-eval holds, and no style element or attribute is written.
 */

import "./vendor/vega/vega.min.js";
import "./vendor/vega-lite/vega-lite.min.js";
import { expressionInterpreter } from "./vendor/vega-interpreter/vega-interpreter.js";

const { vega, vegaLite } = globalThis;
const dark = matchMedia("(prefers-color-scheme: dark)");

/* On the page a chart takes the page's text color and font, so both color schemes have contrast;
 * saved, it is black on white wherever it was saved from. */
function theme(figure, color, background) {
  const text = { labelColor: color, titleColor: color };
  const lines = { domainColor: color, tickColor: color, gridColor: color, gridOpacity: 0.15 };
  return {
    background,
    font: getComputedStyle(figure).fontFamily,
    axis: { ...text, ...lines },
    header: text,
    legend: text,
    title: { color, subtitleColor: color },
    text: { color },
    rule: { color },
    view: { stroke: "transparent" },
  };
}

function compile(figure, config) {
  const source = figure.querySelector('script[type="application/json"]').textContent;
  const spec = { width: "container", ...JSON.parse(source) };
  // Its warnings would fill the console: it "drops" a fit-y that no chart of ours asks for.
  return vegaLite.compile(spec, { config, logger: vega.logger(vega.Error) }).spec;
}

/* Data comes inside the specification; a chart fetches nothing. Vega only logs a failed load, so
 * the address is kept for draw() to complain of. */
function makeView(figure, color, background) {
  const runtime = vega.parse(compile(figure, theme(figure, color, background)), null, { ast: true });
  const refused = [];
  const refuse = async (url) => { refused.push(url); return "[]"; };
  const loader = { load: refuse, sanitize: refuse, http: refuse, file: refuse };
  const view = new vega.View(runtime, { expr: expressionInterpreter, renderer: "svg", loader });
  return { view, refused };
}

/* To a screen reader a chart is one image with the figure's name: the table has its values. */
async function draw(figure, container) {
  const { view, refused } = makeView(figure, getComputedStyle(figure).color, "transparent");
  figure.view?.finalize();
  figure.view = await view.initialize(container).runAsync();
  container.querySelector("svg").setAttribute("aria-hidden", "true");
  if (refused.length) throw new Error(`a chart may not load ${refused.join(", ")}`);
}

async function save(figure, type) {
  const { view } = makeView(figure, "black", "white");
  await view.runAsync(); // off the page it first takes a width of its own
  await view.width(figure.view.width()).runAsync();
  const link = document.createElement("a");
  link.href = await view.toImageURL(type, type === "png" ? 2 : 1);
  link.download = `${figure.dataset.chart || "chart"}.${type}`;
  link.click();
  view.finalize();
}

function link(href, text) {
  const made = document.createElement("a");
  made.href = href;
  made.textContent = text;
  return made;
}

function button(text, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "btn btn-sm border";
  made.textContent = text;
  made.addEventListener("click", action);
  return made;
}

function actions(figure) {
  const bar = document.createElement("p");
  bar.className = "chart-actions";
  const { table, csv } = figure.dataset;
  if (table) bar.append(link(`#${table}`, "The same as a table"), " ");
  bar.append(button("Save as SVG", () => save(figure, "svg")), " ");
  bar.append(button("Save as PNG", () => save(figure, "png")));
  if (csv) bar.append(" ", link(csv, "Values as CSV"));
  return bar;
}

function failed(container, error) {
  console.error(error);
  container.removeAttribute("aria-labelledby");
  container.textContent = "This chart could not be drawn. The table below holds the same values.";
  container.setAttribute("role", "status");
}

async function present(figure) {
  const container = document.createElement("div");
  container.className = "chart w-100";
  container.setAttribute("role", "img");
  container.setAttribute("aria-labelledby", figure.getAttribute("aria-labelledby"));
  figure.append(container);
  try {
    await draw(figure, container);
    figure.append(actions(figure));
  } catch (error) {
    failed(container, error);
    return;
  }
  const redraw = () =>
    requestAnimationFrame(() => draw(figure, container).catch((error) => failed(container, error)));
  dark.addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, {
    attributeFilter: ["data-bs-theme"],
  });
}

await Promise.all([...document.querySelectorAll("figure[data-chart]")].map(present));
document.documentElement.dataset.charts = "drawn";
