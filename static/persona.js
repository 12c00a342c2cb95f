// A long character is folded on a phone, where it would push what is to be pressed off the screen.

const LONG = 160; // characters
const persona = document.querySelector("[data-part=persona]");
const length = persona.querySelector("ul").textContent.length;
if (length > LONG && window.matchMedia("(max-width: 56rem)").matches) persona.open = false;
