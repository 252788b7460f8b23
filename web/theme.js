// Light, dark, or as the system has it.

const THEMES = ["auto", "light", "dark"];
const NAMES = { auto: "Auto", light: "Light", dark: "Dark" };
const LABELS = { auto: "Auto colours", light: "Light colours", dark: "Dark colours" };

/** A browser may refuse to store anything; then the choice lasts as long as the page. */
function stored() {
  try {
    return localStorage.getItem("tamis-theme");
  } catch {
    return null;
  }
}

export function beginTheme() {
  const button = document.getElementById("theme");
  let theme = THEMES.includes(stored()) ? stored() : "auto";
  const show = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = NAMES[theme];
    button.setAttribute("aria-label", LABELS[theme]);
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem("tamis-theme", theme);
    } catch {
      // See stored().
    }
    show();
  });
  show();
}
