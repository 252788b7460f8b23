// Starts the page: first what needs no library, then the rest when it has been loaded.

import { load } from "./engine.js";
import { beginChoosing, loadedChoosing } from "./choose.js";
import { beginLooking } from "./look.js";
import { beginRate } from "./see-rate.js";
import { beginZone } from "./see-zone.js";
import { beginPrivacy } from "./see-privacy.js";
import { beginTheme } from "./theme.js";
import { beginDocuments } from "./documents.js";

// A link to a section must not take the place of the state in the address.
for (const link of document.querySelectorAll("nav a, .skip")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const section = document.querySelector(link.getAttribute("href"));
    section.scrollIntoView();
    section.focus({ preventScroll: true });
  });
}

beginTheme();
beginChoosing();
beginLooking();
beginDocuments();

load().then(
  (tamis) => {
    loadedChoosing(tamis);
    beginRate(tamis);
    beginZone(tamis);
    beginPrivacy(tamis);
    document.documentElement.dataset.ready = "yes";
  },
  (error) => {
    const problem = document.getElementById("engine-problem");
    problem.textContent =
      `The library could not be loaded, so this page cannot compute (${error.message}). ` +
      "Reload the page, or open it in a newer browser.";
    problem.hidden = false;
    document.getElementById("verdict").textContent = "The library is missing.";
  },
);
