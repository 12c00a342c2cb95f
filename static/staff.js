// Staff's forms: the hourly rate and departures while typing, copying, focus on what is wrong, and
// one thing done per press.
const wrong = document.querySelector("[data-autofocus]");
if (wrong) wrong.focus();

const form = document.querySelector("[data-campaign-form]");
if (form) {
  const hourly = form.querySelector("[data-hourly]");
  const tell = () => {
    const pay = Number.parseFloat(form.elements.pay.value);
    const minutes = Number.parseFloat(form.elements.minutes.value);
    const right = pay >= 0 && minutes > 0;
    hourly.value = right
      ? hourly.dataset.tells.replace(
          "RATE",
          `${((pay * 60) / minutes).toFixed(2)} ${form.elements.currency.value}`,
        )
      : hourly.dataset.asks;
  };
  const mark = (control) => {
    const now = control.type === "checkbox" ? String(control.checked) : control.value.trim();
    const badge = control.closest(".field").querySelector("[data-departs]");
    badge.hidden = now === control.dataset.original;
  };
  form.addEventListener("input", (event) => {
    tell();
    if ("original" in event.target.dataset) mark(event.target);
  });
  tell();
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = button.dataset.copied;
    } catch {
      window.getSelection().selectAllChildren(source); // no permission: ready for the keyboard
    }
  });
}

const AGAIN = 3000; // ms in which a second press is the same one: a file leaves the page as it is
const sent = new WeakMap();
document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("method") !== "post") return;
  const pressed = event.submitter ?? event.target; // another button of the form is no second press
  if (event.timeStamp - (sent.get(pressed) ?? -Infinity) < AGAIN) event.preventDefault();
  else sent.set(pressed, event.timeStamp);
});
