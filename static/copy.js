// The copy button beside a code; without it the code can still be selected by one click.

for (const button of document.querySelectorAll("[data-copy]")) {
  const status = document.getElementById(button.getAttribute("aria-describedby"));
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    const code = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent.trim());
      status.textContent = button.dataset.done;
    } catch {
      window.getSelection().selectAllChildren(code);
      status.textContent = button.dataset.failed;
    }
  });
}
