// Waiting and the ready check: asks where one stands, counts in between, and calls by sound and
// title when the partner is there.

const page = document.getElementById("waiting");
const words = JSON.parse(document.getElementById("waiting-words").textContent);
const part = (name) => document.querySelector(`[data-part=${name}]`);
const ASK_EVERY = 2000;
const title = document.title;
let matched = Boolean(page.dataset.matched);
let waitingSince = null; // on this browser's clock
let until = null; // the end of the countdown, likewise
let flashing = null;
let sound = null;

const clock = (seconds) => {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

// Two soft notes, made here: no file has to be fetched.
async function chime() {
  sound ??= new AudioContext();
  await sound.resume();
  [660, 880].forEach((frequency, number) => {
    const tone = sound.createOscillator();
    const volume = sound.createGain();
    const start = sound.currentTime + number * 0.22;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.0001, start);
    volume.gain.exponentialRampToValueAtTime(0.25, start + 0.03);
    volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.5);
    tone.connect(volume).connect(sound.destination);
    tone.start(start);
    tone.stop(start + 0.55);
  });
}

function flash() {
  let on = false;
  clearInterval(flashing);
  flashing = setInterval(() => {
    on = !on;
    document.title = on ? `● ${words.here}` : title;
  }, 1000);
}

function showMatch() {
  if (matched) return;
  matched = true;
  part("queue").hidden = true;
  part("matched").hidden = false;
  part("heading").textContent = words.here;
  part("meet").focus();
  flash();
  chime().catch(() => {}); // a browser may forbid sound until the page was touched
}

function draw(status) {
  const now = Date.now();
  if (status.seconds_left !== undefined) until = now + status.seconds_left * 1000;
  if (status.seconds_waiting !== undefined) waitingSince = now - status.seconds_waiting * 1000;
  if (status.state === "MATCHED") {
    showMatch();
    part("ask").hidden = status.ready;
    part("answered").hidden = !status.ready;
    return;
  }
  part("position").textContent = status.position;
  const choices = status.choices ?? [];
  part("choices").hidden = choices.length === 0;
  part("bot").hidden = !choices.includes("bot");
  part("give_up").hidden = !choices.includes("give_up");
  const text = choices.includes("bot") ? words.nobody_or_bot : words.nobody;
  if (choices.length && part("choices-text").textContent !== text) {
    part("choices-text").textContent = text;
  }
}

async function ask() {
  try {
    const response = await fetch(page.dataset.status, { headers: { Accept: "application/json" } });
    if (response.status === 404) window.location.replace(page.dataset.currentStep);
    if (!response.ok) throw new Error(String(response.status));
    const status = await response.json();
    part("offline").hidden = true;
    const here = status.state === "WAITING" || status.state === "MATCHED";
    const back = matched && status.state === "WAITING";
    const another = String(status.character) !== page.dataset.character; // after a pause
    if (!here || back || another) {
      window.location.replace(page.dataset.currentStep);
      return;
    }
    draw(status);
  } catch {
    part("offline").hidden = false;
  }
  setTimeout(ask, ASK_EVERY * (0.85 + Math.random() * 0.3));
}

function tick() {
  const now = Date.now();
  if (waitingSince !== null) part("seconds-waiting").textContent = clock((now - waitingSince) / 1000);
  if (until === null) return;
  const left = Math.max(0, (until - now) / 1000);
  if (matched) part("deadline").textContent = Math.ceil(left);
  else part("left").textContent = left > 0 ? clock(left) : words.any_time;
}

part("sound").addEventListener("click", () => chime());
if (matched) flash();
setInterval(tick, 500);
ask();
