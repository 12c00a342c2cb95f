// What stopping now means for the pay, asked anew when it is opened: a chat's page stays while the
// conversation grows.

const stop = document.querySelector("details.stop");
const means = stop.querySelector("[data-part=stop-means]");

stop.addEventListener("toggle", async () => {
  if (!stop.open) return;
  try {
    const answer = await fetch(stop.dataset.means, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const { text } = await answer.json();
    if (means.textContent !== text) means.textContent = text;
  } catch {
    // without a connection what the page said stays
  }
});
