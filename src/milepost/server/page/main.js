// The page, put together. Read: state.js (what is known), search.js and passage.js (answers),
// document.js with pdf.js and text.js (the open document), library.js, upload.js and progress.js.

import { startDocument } from "./document.js";
import { startFilters } from "./filter-fields.js";
import { startKeys } from "./keys.js";
import { reload, startLibrary } from "./library.js";
import { watch } from "./progress.js";
import { startSearch } from "./search.js";
import { startUpload } from "./upload.js";

startKeys();
startUpload();
startFilters();
const listed = startLibrary();
startSearch();
startDocument();
await listed;
watch();
// Another tab, or the command line, may have added or removed documents meanwhile.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  reload();
  watch();
});
