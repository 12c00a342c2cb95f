// The live page: swaps numbers only when they changed, and says when they are not fresh.
const live = document.getElementById("live");
const stale = document.getElementById("stale");
let last = "";
let fresh = new Date();

live.addEventListener("htmx:beforeSwap", (event) => {
  const text = event.detail.xhr.responseText;
  if (event.detail.xhr.status === 200) {
    fresh = new Date();
    stale.hidden = true;
    if (text === last) event.detail.shouldSwap = false;
    last = text;
  }
});

const lost = () => {
  stale.textContent = `${stale.dataset.text} ${fresh.toLocaleTimeString()}.`;
  stale.hidden = false;
};
live.addEventListener("htmx:sendError", lost);
live.addEventListener("htmx:responseError", lost);
live.addEventListener("htmx:timeout", lost);
