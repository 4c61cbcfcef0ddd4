// Light, dark, or as the reader has it.

const THEMES = ["auto", "light", "dark"];

/** Lets a button go through the themes; `render` draws again what depends on them. Gives what shows the chosen one. */
function listenToTheme(button, render) {
  let theme = "auto";
  const nameTheme = () => {
    button.textContent = `◐ ${theme}`;
    button.ariaLabel = `Theme: ${theme}`;
  };
  const show = () => {
    document.documentElement.style.colorScheme = theme === "auto" ? "" : theme;
    nameTheme();
    render();
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    show();
  });
  nameTheme();
  return show;
}
