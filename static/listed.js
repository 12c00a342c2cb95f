// The list of who waits for a place: asks where one stands, counts in between, and goes on by itself.

const list = document.getElementById("listed");
const part = (name) => list.querySelector(`[data-part=${name}]`);
const ASK_EVERY = 2000;
let waitingSince = null; // on this browser's clock
let until = null; // when a place may come free at the latest, likewise

const clock = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

async function ask() {
  try {
    const response = await fetch(list.dataset.status, { headers: { Accept: "application/json" } });
    if (response.status === 404) window.location.replace(list.dataset.currentStep);
    if (!response.ok) throw new Error(String(response.status));
    const status = await response.json();
    part("offline").hidden = true;
    if (status.state !== "READY" || status.position === undefined) {
      window.location.replace(list.dataset.currentStep);
      return;
    }
    const now = Date.now();
    part("position").textContent = status.position;
    waitingSince = now - status.seconds_waiting * 1000;
    until = status.seconds_left === undefined ? null : now + status.seconds_left * 1000;
  } catch {
    part("offline").hidden = false;
  }
  setTimeout(ask, ASK_EVERY * (0.85 + Math.random() * 0.3));
}

setInterval(() => {
  const now = Date.now();
  if (waitingSince !== null) part("seconds-waiting").textContent = clock((now - waitingSince) / 1000);
  const left = until === null ? null : (until - now) / 1000;
  part("left").textContent = left === null ? "–" : left > 0 ? clock(left) : list.dataset.now;
}, 500);
ask();
