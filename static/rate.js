// Questions of a form, whatever their kind, and texts that are asked for: digits and letters choose an option that names one
// (data-key, data-letter), a question waits for the one it depends on (data-gate), and answers are
// saved as they are given. An answer is what the form would send under the question's name
// (data-name). An input that always has a value, such as a slider, bears its name in data-untouched
// until it is touched.

const form = document.getElementById("rate") ?? document.getElementById("write");
const saved = form.querySelector("[data-part=saved]");
const questions = [...form.querySelectorAll(".question")];
const SAVE_AFTER = 500;
const AGAIN_AFTER = 4000;
let timer = null;
let sending = false;

const answer = (question) => new FormData(form).get(question.dataset.name) ?? "";
const byName = (name) => questions.find((question) => question.dataset.name === name);

// A question with a gate is locked until that one has an answer that opens it.
function lock() {
  for (const question of questions) {
    const gate = question.dataset.gate && byName(question.dataset.gate);
    if (!gate) continue;
    question.disabled = !JSON.parse(question.dataset.gateValues).includes(answer(gate));
    if (question.disabled) clear(question);
  }
}

// A slider cannot be empty: it loses its name instead, so that nothing is sent for it.
function clear(question) {
  for (const input of question.querySelectorAll("input, select, textarea")) {
    if (input.matches("[type=radio], [type=checkbox]")) input.checked = false;
    else input.value = "";
    if (input.type === "range" && input.name) {
      input.dataset.untouched = input.name;
      input.removeAttribute("name");
    }
    showValue(input);
  }
}

// An output that names an input (for) shows its value, in words where there is none.
function showValue(input) {
  for (const output of input.closest(".question").querySelectorAll("output")) {
    if (output.htmlFor.contains(input.id)) {
      output.value = input.dataset.untouched ? output.dataset.none : input.value;
    }
  }
}

function touch(input) {
  if (!input.dataset.untouched) return false;
  input.name = input.dataset.untouched;
  delete input.dataset.untouched;
  showValue(input);
  return true;
}

async function save() {
  if (!form.dataset.draft) return; // questions before the work are not saved as drafts
  const answers = {};
  for (const question of questions) {
    if (answer(question)) answers[question.dataset.name] = answer(question);
  }
  try {
    const response = await fetch(form.dataset.draft, {
      method: "POST",
      body: JSON.stringify({ answers }),
      headers: {
        Accept: "application/json",
        "Content-Type": "application/json",
        "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content,
      },
    });
    if (!response.ok) throw new Error(String(response.status));
    saved.textContent = form.dataset.saved;
  } catch {
    saved.textContent = form.dataset.unsaved;
    timer = setTimeout(save, AGAIN_AFTER);
  }
}

// Of inputs marked data-alone only one of a value may be chosen on the page: where a question takes
// the value of another, that one gets what the first had. So arrow keys move a reply up and down.
const held = new Map();
function holdAll() {
  for (const input of form.querySelectorAll("input[data-alone]:checked")) held.set(input.name, input.value);
}

function takeFromOthers(chosen) {
  if (!("alone" in chosen.dataset)) return;
  const before = held.get(chosen.name);
  for (const other of form.querySelectorAll("input[data-alone]:checked")) {
    if (other === chosen || other.value !== chosen.value) continue;
    other.checked = false;
    held.delete(other.name);
    const same = [...form.elements[other.name]].find((input) => input.value === before);
    if (same) {
      same.checked = true;
      held.set(other.name, before);
    }
  }
  held.set(chosen.name, chosen.value);
}

function answered(event) {
  const question = event.target.closest(".question");
  takeFromOthers(event.target);
  question.removeAttribute("aria-invalid");
  question.querySelector(".field-error")?.remove();
  lock();
  clearTimeout(timer);
  timer = setTimeout(save, SAVE_AFTER);
}

// A click, or the space bar, that leaves a slider where it stands is an answer too. A text is saved
// while it is typed.
form.addEventListener("input", (event) => {
  touch(event.target);
  showValue(event.target);
  if (event.target.matches("textarea, [type=text]")) answered(event);
});
function answerUnmoved(input) {
  if (touch(input)) input.dispatchEvent(new Event("change", { bubbles: true }));
}
form.addEventListener("click", (event) => answerUnmoved(event.target));
form.addEventListener("keydown", (event) => {
  if (event.key !== " " || !event.target.dataset.untouched) return;
  event.preventDefault();
  answerUnmoved(event.target);
});
form.addEventListener("change", answered);

// A digit or a letter answers the question that has the focus, else the first that is not answered.
// In a list of one question (data-steps) the next reply then has the focus.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^[\p{L}0-9]$/u.test(event.key)) return;
  const open = questions.filter((question) => !question.disabled);
  const focused = document.activeElement.closest?.(".question");
  const question = focused ?? open.find((one) => !answer(one));
  const key = CSS.escape(event.key.toLowerCase());
  const input = question?.querySelector(`input[data-key="${key}"], input[data-letter="${key}"]`);
  if (!input || question.disabled) return;
  event.preventDefault();
  input.checked = true;
  input.focus();
  input.dispatchEvent(new Event("change", { bubbles: true }));
  if ("steps" in form.dataset) step(question);
});

// Lead to the next reply of a list, then to those left out, at last to the button.
function step(question) {
  const next = questions[questions.indexOf(question) + 1] ?? questions.find((one) => !answer(one));
  const target = next?.querySelector("input:checked") ?? next?.querySelector("input");
  (target ?? form.querySelector("button.btn-primary")).focus({ preventScroll: true });
  (next?.closest(".reply") ?? form.lastElementChild).scrollIntoView({ block: "center" });
}

form.addEventListener("submit", (event) => {
  clearTimeout(timer);
  if (sending) event.preventDefault();
  sending = true;
});
window.addEventListener("pageshow", () => {
  sending = false;
  holdAll();
  lock();
});

holdAll();
lock();

// Who answers before this script is there loses nothing: what differs from the page is saved.
function isChanged(input) {
  const page = document.createElement("template");
  page.innerHTML = input.outerHTML;
  const drawn = page.content.firstElementChild;
  // Of radios only the chosen one is an answer; the one that it replaces would take it from another.
  if (input.type === "radio") return input.checked && !drawn.checked;
  return input.value !== drawn.value || input.checked !== drawn.checked;
}
for (const input of form.querySelectorAll(".question :is(input, textarea)")) {
  if (!isChanged(input)) continue;
  touch(input);
  showValue(input);
  answered({ target: input });
}

// A single message to judge is the last one, and what is written comes after all that stand here: the
// end stays in sight when the window turns or shrinks. Of a whole conversation many messages are
// marked, and it is read from its beginning.
const log = document.querySelector(".log");
function showLast() {
  log.scrollTop = log.scrollHeight;
}
if (log && (form.id === "write" || log.querySelectorAll(".msg-judged").length === 1)) {
  showLast();
  window.addEventListener("resize", showLast);
}
if (!form.contains(document.activeElement)) document.querySelector("[data-autofocus]")?.focus();
