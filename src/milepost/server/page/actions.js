// What can be copied of a place: a citation in five forms, and a link.

import * as cite from "./cite.js";
import { el, icon } from "./dom.js";
import { copy } from "./notice.js";
import { placeOf } from "./state.js";

const FORMS = [
  ["Plain text", cite.plain],
  ["Markdown", cite.markdown],
  ["BibTeX", cite.bibtex],
  ["MLA", cite.mla],
  ["APA", cite.apa],
];

/**
 * A menu "Cite" and a button "Copy link".
 *
 * @param {() => object | Promise<object>} place what is cited, as in cite.js, with the document's id
 */
export function citeMenu(place) {
  const menu = el("details", { class: "menu" },
    el("summary", {}, icon("quote"), el("span", { text: "Cite" })),
    el("div", { class: "items" },
      FORMS.map(([name, form]) => el("button", {
        type: "button",
        text: name,
        on: {
          click: async () => {
            menu.open = false;
            menu.firstChild.focus();
            copy(form(await place()), "Citation");
          },
        },
      }))));
  menu.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
  });
  const link = el("button", { type: "button", class: "quiet", on: { click: async () => copyLink(await place()) } },
    icon("link"), el("span", { text: "Copy link" }));
  return [menu, link];
}

function copyLink({ id, start, end }) {
  copy(new URL(placeOf(id, start, end), location.href).href, "Link");
}

// A click elsewhere closes a menu that is open.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
