// The questions: digits choose a point, a question waits for the one it depends on, what is
// answered is saved at once, and what is missing is shown first.

const form = document.getElementById("rate");
const saved = form.querySelector("[data-part=saved]");
const questions = [...form.querySelectorAll(".question")];
const SAVE_AFTER = 500;
const AGAIN_AFTER = 4000;
let timer = null;
let sending = false;

const chosen = (question) => question.querySelector("input:checked");
const byName = (name) => questions.find((question) => question.dataset.name === name);

// A question with a gate is locked until that one is answered yes.
function lock() {
  for (const question of questions) {
    const gate = question.dataset.gate && byName(question.dataset.gate);
    if (!gate) continue;
    question.disabled = chosen(gate)?.value !== "1";
    if (question.disabled && chosen(question)) chosen(question).checked = false;
  }
}

async function save() {
  const answers = {};
  for (const question of questions) {
    if (chosen(question)) answers[question.dataset.name] = chosen(question).value;
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

form.addEventListener("change", (event) => {
  const question = event.target.closest(".question");
  question.removeAttribute("aria-invalid");
  question.querySelector(".field-error")?.remove();
  lock();
  clearTimeout(timer);
  timer = setTimeout(save, SAVE_AFTER);
});

// A digit answers the question that has the focus, else the first that is not answered.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !/^[0-9]$/.test(event.key)) return;
  const open = questions.filter((question) => !question.disabled);
  const focused = document.activeElement.closest?.(".question");
  const question = focused ?? open.find((one) => !chosen(one));
  const input = question?.querySelector(`input[data-key="${event.key}"]`);
  if (!input || question.disabled) return;
  event.preventDefault();
  input.checked = true;
  input.focus();
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

form.addEventListener("submit", (event) => {
  clearTimeout(timer);
  if (sending) event.preventDefault();
  sending = true;
});
window.addEventListener("pageshow", () => {
  sending = false;
  lock();
});

lock();

// The message to judge is the last one: it stays in sight when the window turns or shrinks.
const log = document.querySelector(".log");
function showLast() {
  log.scrollTop = log.scrollHeight;
}
if (log.querySelector(".msg-judged")) {
  showLast();
  window.addEventListener("resize", showLast);
}
document.querySelector("[data-autofocus]")?.focus();
