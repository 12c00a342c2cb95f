// Follows the system's light or dark theme. Runs before the first paint; without it pages are light.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => {
  document.documentElement.dataset.bsTheme = dark.matches ? "dark" : "light";
};
follow();
dark.addEventListener("change", follow);
