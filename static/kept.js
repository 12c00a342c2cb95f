// A place in which nothing is done yet, and which may go to who waits: asks how long it is kept, and
// counts down. With the first work, or where nobody can take it, nothing is shown.

const box = document.getElementById("unkept");
const left = box.querySelector("[data-part=left]");
const ASK_EVERY = { hidden: 10000, shown: 3000 };
let until = null; // on this browser's clock
let timer = null;

async function ask() {
  clearTimeout(timer);
  try {
    const response = await fetch(box.dataset.status, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(String(response.status));
    const status = await response.json();
    if (status.screen !== box.dataset.screen) {
      window.location.replace(box.dataset.currentStep);
      return;
    }
    until = status.seconds_left === undefined ? null : Date.now() + status.seconds_left * 1000;
    draw();
    if (status.kept) return;
  } catch {
    // what was said last stays: the time goes on without a connection too
  }
  timer = setTimeout(ask, ASK_EVERY[until === null ? "hidden" : "shown"]);
}

function draw() {
  box.hidden = until === null;
  if (until === null) return;
  const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

setInterval(draw, 500);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && timer !== null) ask();
});
ask();
