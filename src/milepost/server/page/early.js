// Before the page has started: a question that is asked already is remembered, and the browser does not
// leave the page for it. A plain script, as modules run when all of the page is there; search.js asks it.

document.getElementById("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  event.currentTarget.dataset.asked = "";
});
