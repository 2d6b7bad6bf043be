// Elements without markup: every text becomes a text node, so nothing of a document is ever HTML.

/** The element of an id in index.html. */
export const byId = (id) => document.getElementById(id);

/**
 * An element.
 *
 * Properties: `class`, `text`, `on` (events by name), `data` (data- attributes); every other one is
 * set as an attribute, where `true` means present and `false` or null absent.
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") node.className = value;
    else if (name === "text") node.textContent = value;
    else if (name === "on") for (const [event, heard] of Object.entries(value)) node.addEventListener(event, heard);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Put these children in place of all that a node has. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

const SVG = "http://www.w3.org/2000/svg";

const PATHS = {
  close: "M5 5l10 10M15 5L5 15",
  remove: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6M8.6 9v4.5M11.4 9v4.5",
  link: "M8.5 11.5l3-3M9 6.5l1.6-1.6a3.2 3.2 0 014.5 4.5L13.5 11M11 13.5l-1.6 1.6a3.2 3.2 0 01-4.5-4.5L6.5 9",
  quote: "M8 6C5.5 7 4.5 9 4.5 12.5m0 0a1.8 1.8 0 103.6 0 1.8 1.8 0 00-3.6 0zM15.5 6c-2.5 1-3.5 3-3.5 6.5m0 0a1.8 1.8 0 103.6 0 1.8 1.8 0 00-3.6 0z",
};

/** A small drawing that says nothing by itself: the control around it has a label. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** Whether an error may be gone at the next try: no answer, a busy or broken server. */
export const mayPass = ({ status }) => !status || [408, 429].includes(status) || status >= 500;

/** What went wrong, with a button where it may go well the next time. */
export function problemBox(error, again) {
  const button = mayPass(error) ? el("button", { type: "button", text: "Try again", on: { click: again } }) : null;
  return el("div", { class: "problem", role: "alert" }, el("p", { text: error.message }), button);
}
